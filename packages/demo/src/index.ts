export {
  defaultMigrations,
  reviewFile,
  reviewFolder,
  type FileReview,
  type ReviewOptions,
} from "./migrations/folder-review.js";
export {
  demoIdentities,
  demoTasks,
  runDemo,
  type DemoIdentity,
  type DemoOptions,
  type DemoProgress,
  type DemoResult,
} from "./run/run-demo.js";
export type { DemoTask } from "./run/demo-task.js";
export type { Expected, Truth } from "./run/plan.js";
export type { Judged, Row } from "./run/row.js";
export { agentNames, type AgentName } from "./agents/messages.js";
export { fileFailures, type FileFailure, type ParseError } from "./migrations/failure.js";
export { reviewSql, type Finding, type SqlReview } from "./migrations/review.js";
export { rules, severities, type Rule, type RuleId, type Severity } from "./migrations/rules.js";
export { listSqlFiles, type SqlPath } from "./migrations/sql-folder.js";
export { failureScript, lookupFailures, type FailureScript, type LookupFailure } from "./services/failure-script.js";
export type { Item, LookupRecord } from "./services/inventory.js";
export { fetchItem, readInventoryBook, type FetchItemOptions } from "./services/inventory-client.js";
export {
  defaultStock,
  startInventoryService,
  type InventoryOptions,
  type InventoryService,
} from "./services/inventory-service.js";
export type { LocalService } from "./services/http-server.js";
export type { Book, Payment, PaymentOrder, PaymentState, PostRecord } from "./services/payment.js";
export type { BookEntry } from "./services/payment-book.js";
export { findPayment, pay, readPaymentBook, type PayRequest } from "./services/payment-client.js";
export { startPaymentService, type PaymentService, type PaymentServiceOptions } from "./services/payment-service.js";
export { ServiceError, type ServiceErrorOptions } from "./services/service-error.js";
export { spawnService, type ServiceName, type SpawnedService, type SpawnOptions } from "./services/spawn-service.js";
