import type { Evidence, Tool } from 'svc/contracts/skill';
import type { Principal } from 'svc/sdk';

import type { EvidenceStore } from './evidence-store.ts';
import { digestOf } from './reading.ts';
import { guarded } from './result-guard.ts';

/** Larger results are kept and given as their beginning and end. */
const maxBytes = 8 * 1_024;

export interface Presented {
  readonly result: unknown;
  readonly evidence: Evidence | undefined;
}

/** Presenter of results to callers. Nothing leaves a tool by any other path. */
export class Presenter {
  readonly #evidence: EvidenceStore;

  constructor(evidence: EvidenceStore) {
    this.#evidence = evidence;
  }

  /** `keep`: as evidence, however small. */
  async present(
    value: unknown,
    {
      tool,
      principal,
      keep,
    }: { readonly tool: Tool; readonly principal: Principal; readonly keep: boolean },
  ): Promise<Presented> {
    const result = guarded(value) ?? null;
    const isSmall = Buffer.byteLength(JSON.stringify(result)) <= maxBytes;
    if (isSmall && !keep) {
      return { result, evidence: undefined };
    }
    const text = typeof result === 'string' ? result : JSON.stringify(result, null, 1);
    const evidence = await this.#evidence.keep(text, {
      tool: tool.key,
      trust: tool.trust,
      principal,
    });
    return { result: isSmall ? result : shortened(text, result, evidence), evidence };
  }
}

function shortened(text: string, result: unknown, { id, bytes }: Evidence): object {
  const counts = Object.entries(Object(result) as object).flatMap(([name, item]) =>
    Array.isArray(item) ? [[name, item.length]] : [],
  );
  return {
    evidence: id,
    bytes,
    ...(Array.isArray(result)
      ? { items: result.length }
      : counts.length > 0 && { items: Object.fromEntries(counts.slice(0, 10)) }),
    ...digestOf(text),
    read_on: `evidence_read {"id":"${id}"} with a filter or a range of lines reads the rest`,
  };
}
