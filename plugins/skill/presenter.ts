import type { Evidence, Tool } from 'svc/contracts/skill';
import type { Principal, ThreadHandle } from 'svc/sdk';

import type { EvidenceStore } from './evidence-store.ts';
import { guarded } from './result-guard.ts';
import { isLargeData, type ResultShape, shapeOf } from './result-shape.ts';

export interface Presented {
  readonly result: unknown;
  readonly evidence: Evidence | undefined;
}

const shapingMs = 60_000;

/** Presenter of results to callers. Nothing leaves a tool by any other path. */
export class Presenter {
  readonly #evidence: EvidenceStore;
  readonly #thread: Pick<ThreadHandle, 'call'>;

  /** `thread`: shapes large results, so that requests do not wait for them. */
  constructor(evidence: EvidenceStore, thread: Pick<ThreadHandle, 'call'>) {
    this.#evidence = evidence;
    this.#thread = thread;
  }

  /** `keep`: as evidence, however small. */
  async present(
    value: unknown,
    {
      tool,
      principal,
      keep,
      params,
    }: {
      readonly tool: Tool;
      readonly principal: Principal;
      readonly keep: boolean;
      readonly params: Readonly<Record<string, unknown>>;
    },
  ): Promise<Presented> {
    const { small, text, digest } = isLargeData(value)
      ? await this.#thread.call<ResultShape>('shape', value, { timeoutMs: shapingMs })
      : shapeOf(value);
    if (small !== undefined && !keep) {
      return { result: small.result, evidence: undefined };
    }
    const evidence = await this.#evidence.keep(text, {
      tool: tool.key,
      trust: tool.trust,
      principal,
      params: guarded(params),
    });
    const { id, bytes } = evidence;
    return {
      result:
        small === undefined
          ? {
              evidence: id,
              bytes,
              ...digest,
              read_on: `evidence_read {"id":"${id}"} with a filter or a range of lines reads the rest`,
            }
          : small.result,
      evidence,
    };
  }
}
