import { equalBytes, zeroHash, type AdmittedEvent } from "@candor/contract";

/** Something wrong within one author's chain: done by the author, or by whoever changed the log. */
export interface ChainFinding {
  readonly code: "log-gap" | "log-fork" | "chain-broken";
  readonly lane: number;
  /** Stream sequence of the event that shows it. */
  readonly seq: number;
  /** Stream sequence of the event before it in the chain; for a broken chain, one of the two was changed. */
  readonly before: number | undefined;
  readonly sentence: string;
}

interface Link {
  readonly seq: number;
  readonly prev: Uint8Array;
  readonly hash: Uint8Array;
}

interface Chain {
  readonly name: string;
  readonly lane: number;
  next: number;
  head: Uint8Array;
  headAt: number | undefined;
  readonly waiting: Map<number, Link>;
}

export interface ChainCheck {
  add(lane: number, entry: AdmittedEvent): void;
  /** All findings, in stream order; a gap counts as one only at the end of the log. */
  end(): ChainFinding[];
}

/**
 * Checks that the events of each agent and prober in each epoch form one chain by `seq` and `prev`, whatever order the log has
 * them in. Intents are not chains: their `prev` names the last accepted one, which only the fold knows.
 */
export function createChainCheck(): ChainCheck {
  const chains = new Map<string, Chain>();
  const findings: ChainFinding[] = [];

  const report = (chain: Chain, code: ChainFinding["code"], number: number, seq: number, what: string): void => {
    const sentence = `${chain.name}: event ${number} ${what}.`;
    findings.push({ code, lane: chain.lane, seq, before: chain.headAt, sentence });
  };

  const take = (chain: Chain, { seq, prev, hash }: Link): void => {
    if (!equalBytes(prev, chain.head))
      report(chain, "chain-broken", chain.next, seq, "names another predecessor than the log has");
    chain.next++;
    // A copy: the hash may be a view, and the chain outlives the message.
    chain.head = hash.slice();
    chain.headAt = seq;
  };

  const offer = (chain: Chain, number: number, link: Link): void => {
    if (number < chain.next) {
      if (number === chain.next - 1 && !equalBytes(link.hash, chain.head))
        report(chain, "log-fork", number, link.seq, "is there twice, with different content");
      return;
    }
    const other = chain.waiting.get(number);
    if (other !== undefined && !equalBytes(other.hash, link.hash))
      report(chain, "log-fork", number, link.seq, "is there twice, with different content");
    if (other === undefined) chain.waiting.set(number, { ...link, prev: link.prev.slice() });
    for (let ready = chain.waiting.get(chain.next); ready !== undefined; ready = chain.waiting.get(chain.next)) {
      chain.waiting.delete(chain.next);
      take(chain, ready);
    }
  };

  return {
    add(lane, { seq, event, hash }) {
      const { role, run, task, epoch, actor } = event;
      if (role !== "agent" && role !== "probe") return;
      const name = `run ${run}, task ${task}, epoch ${epoch}, ${role} ${actor}`;
      let chain = chains.get(name);
      if (chain === undefined) {
        chain = { name, lane, next: 1, head: zeroHash, headAt: undefined, waiting: new Map() };
        chains.set(name, chain);
      }
      offer(chain, event.seq, { seq, prev: event.prev, hash });
    },
    end() {
      for (const chain of chains.values()) {
        if (chain.waiting.size === 0) continue;
        const first = Math.min(...chain.waiting.keys());
        report(
          chain,
          "log-gap",
          chain.next,
          chain.waiting.get(first)?.seq ?? 0,
          "is missing, and later ones are there",
        );
      }
      return findings.sort((a, b) => a.seq - b.seq);
    },
  };
}
