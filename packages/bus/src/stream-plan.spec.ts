import { describe, expect, it } from "vitest";
import { streams } from "@candor/contract";
import { lanesOf, streamDocuments, type StreamDocument } from "./stream-documents.js";
import { planStreams } from "./stream-plan.js";

const settings = { lanes: 16, replicas: 1, operator: "UOPERATOR" };
const wanted = streamDocuments(settings);

/** The configuration as a server echoes it: what is false is left out, and it adds things of its own. */
function echoed(stream: StreamDocument): StreamDocument {
  const kept = Object.entries(stream).filter(([, value]) => value !== false && value !== 0);
  const metadata = { ...(stream["metadata"] as object), "_nats.ver": "2.15.1" };
  return { max_consumers: -1, consumer_limits: {}, ...Object.fromEntries(kept), name: stream.name, metadata };
}

describe("B1 the plan for the streams", () => {
  it("makes what is not there", () => {
    expect(planStreams([], wanted)).toEqual(
      wanted.map((to) => ({ stream: to.name, field: "*", from: undefined, to, change: "create" })),
    );
  });

  it("finds nothing to do for what a server echoes", () => {
    expect(planStreams(wanted.map(echoed), wanted)).toEqual([]);
  });

  it("can't change the lanes or the operator", () => {
    const other = streamDocuments({ ...settings, lanes: 8, operator: "UOTHER" });
    const changes = planStreams(wanted.map(echoed), other);
    expect(changes.every(({ change }) => change === "immutable")).toBe(true);
    expect(new Set(changes.map(({ field }) => field))).toEqual(
      new Set(["metadata.candor-lanes", "metadata.candor-operator", "subject_transform.dest"]),
    );
  });

  it("shows a right that somebody turned on", () => {
    const loosened = wanted.map(echoed).map((stream) => ({ ...stream, allow_rollup_hdrs: true }));
    expect(planStreams(loosened, wanted)).toEqual(
      wanted.map(({ name }) => ({ stream: name, field: "allow_rollup_hdrs", from: true, to: false, change: "update" })),
    );
  });

  it("changes the number of replicas", () => {
    const changes = planStreams(wanted.map(echoed), streamDocuments({ ...settings, replicas: 3 }));
    expect(changes).toEqual(
      wanted.map(({ name }) => ({ stream: name, field: "num_replicas", from: 1, to: 3, change: "update" })),
    );
  });
});

describe("B1 the files in streams/", () => {
  it("describe each of our streams, with every place filled", () => {
    expect(wanted.map(({ name }) => name)).toEqual(Object.values(streams));
    expect(JSON.stringify(wanted)).not.toContain("${");
    expect(wanted.map(lanesOf)).toEqual(wanted.map(() => 16));
  });

  it("keep what is written: nobody deletes or rolls up, and nothing expires; only evidence may be purged", () => {
    for (const stream of wanted) {
      expect(stream).toMatchObject({
        storage: "file",
        discard: "new",
        deny_purge: stream.name !== streams.evidence,
        deny_delete: stream.name !== streams.dataKeys,
        allow_rollup_hdrs: false,
        allow_msg_ttl: false,
        allow_atomic: false,
        max_age: 0,
      });
    }
  });

  it.each([{ lanes: 0 }, { lanes: 1.5 }, { lanes: 2000 }, { replicas: 2 }])("refuse %o", (wrong) => {
    expect(() => streamDocuments({ ...settings, ...wrong })).toThrow(
      expect.objectContaining({ code: "bad-argument" }) as Error,
    );
  });
});
