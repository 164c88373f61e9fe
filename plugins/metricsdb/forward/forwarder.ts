import type { DeviceNameTable, QueryRunner } from 'svc/query';
import { transferred } from 'svc/thread';

import { toolAnswer } from '../prometheus/answer.ts';
import type { ServiceAnswer } from '../service/answers.ts';
import type {
  Asked,
  Forwarded,
  Packed,
  PackInput,
  QueryLimits,
  ServiceQuestion,
} from '../thread/contract.ts';
import { decodeAnswer, decodeRange } from './decode.ts';
import { type PackLimits, Packer } from './pack.ts';
import { plan, type PlanParts, planService } from './plan.ts';

/** Computation in the thread for a driver that keeps its samples elsewhere. */
export class Forwarder {
  readonly #runner: QueryRunner<QueryLimits>;
  readonly #names: DeviceNameTable;
  readonly #now: () => number;
  readonly #packer: Packer;

  constructor({ runner, names }: PlanParts, limits: PackLimits, now: () => number) {
    this.#runner = runner;
    this.#names = names;
    this.#now = now;
    this.#packer = new Packer(limits, now);
  }

  settle(limits: PackLimits): void {
    this.#packer.settle(limits);
  }

  methods() {
    const runner = this.#runner;
    const parts = { runner, names: this.#names };
    return {
      plan: (asked: Asked): Forwarded => plan(parts, asked, this.#now()),
      planService: (question: ServiceQuestion): Forwarded => planService(parts, question),
      decode: ({
        body,
        kind,
      }: {
        readonly body: Uint8Array;
        readonly kind: 'query' | 'series';
      }): ServiceAnswer => decodeAnswer(body, kind),
      async reshape(body: Uint8Array, { signal }: { readonly signal: AbortSignal }) {
        const bytes = await runner.run({ signal }, (budget) =>
          toolAnswer({ budget, maxBytes: runner.limits.maxAnswerBytes }, decodeRange(body)),
        );
        return transferred(bytes, [bytes]);
      },
      pack: (input: PackInput): Packed => {
        const packed = this.#packer.pack(input);
        return transferred(packed, packed.bodies);
      },
    };
  }
}
