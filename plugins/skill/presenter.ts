import type { Evidence, Tool } from 'svc/contracts/skill';
import { isSvcError, type Principal, type ThreadHandle } from 'svc/sdk';

import type { EvidenceStore } from './evidence-store.ts';
import { guarded } from './guard/result-guard.ts';
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

  /**
   * `keep`: as evidence, however small. `cited`: so that an answer can name it; one that cannot be written
   * is presented without.
   */
  async present(
    value: unknown,
    {
      tool,
      principal,
      keep,
      cited,
      params,
    }: {
      readonly tool: Tool;
      readonly principal: Principal;
      readonly keep: boolean;
      readonly cited: boolean;
      readonly params: Readonly<Record<string, unknown>>;
    },
  ): Promise<Presented> {
    const { small, text, digest } = isLargeData(value)
      ? await this.#thread.call<ResultShape>('shape', value, { timeoutMs: shapingMs })
      : shapeOf(value);
    if (small !== undefined && !keep && !cited) {
      return { result: small.result, evidence: undefined };
    }
    const about = { tool: tool.key, trust: tool.trust, principal, params: guarded(params) };
    const evidence = await this.#evidence.keep(text, about).catch((error: unknown) => {
      if (small !== undefined && !keep && isSvcError(error)) {
        return undefined;
      }
      throw error;
    });
    if (evidence === undefined) {
      return { result: small!.result, evidence };
    }
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
