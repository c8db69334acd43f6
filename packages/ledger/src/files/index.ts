export { formatCertificate, readCertificateFile } from "./certificate-file.js";
export { createCredentials, createOperator, readCredentials } from "./credentials-folder.js";
export type { NewIdentity } from "./credentials-folder.js";
export { exportCredentials, parseCredentials } from "./credentials-text.js";
export type { Credentials } from "./credentials.js";
export type { IdentityRole } from "./identity-role.js";
export { createKeyFile, readKeyFile } from "./key-file.js";
export { FolderLock, type FolderLockOptions } from "./folder-lock.js";
export { isGone, ownMark, type ProcessMark } from "./process-mark.js";
