import { AckPolicy } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";

/** The guard without its logic: reads one stream and publishes each message to another. Ends with its standard input. */
const [url = "", from = "", toPrefix = ""] = process.argv.slice(2);
const nc = await connect({ servers: url });
const jsm = await jetstreamManager(nc);
const { name } = await jsm.consumers.add(from, { ack_policy: AckPolicy.None, mem_storage: true });
const consumer = await jetstream(nc).consumers.get(from, name);
await consumer.consume({
  callback: (message) => {
    // Awaited by nobody, as the guard's writer does it: its answer comes on the client's one reply subscription.
    void nc.request(`${toPrefix}.${message.subject.split(".").at(-1) ?? ""}`, message.data, { timeout: 5_000 });
  },
});
process.stdout.write("ready\n");
process.stdin.resume().on("end", () => process.exit(0));
