import { startPaymentService } from "./payment-service.js";
import { numberFlag, readFlags, textFlag } from "./service-flags.js";
import { printLine, runAsProcess } from "./service-process.js";

await runAsProcess(() => {
  const flags = readFlags(process.argv.slice(2), ["port", "latency-ms", "book", "decline"]);
  return startPaymentService({
    ...numberFlag(flags, "port", "port"),
    ...numberFlag(flags, "latency-ms", "latencyMs"),
    ...textFlag(flags, "book", "bookFile"),
    declines: flags["decline"] ?? [],
    // Whoever started the service learns of each payment that is on its way without asking again and again.
    onEntry: printLine,
  });
});
