import { startInventoryService } from "./inventory-service.js";
import { numberFlag, readFlags, textFlag } from "./service-flags.js";
import { runAsProcess } from "./service-process.js";

await runAsProcess(() => {
  const flags = readFlags(process.argv.slice(2), ["port", "seed", "retry-after-ms"]);
  return startInventoryService({
    ...numberFlag(flags, "port", "port"),
    ...textFlag(flags, "seed", "seed"),
    ...numberFlag(flags, "retry-after-ms", "retryAfterMs"),
  });
});
