import { transferred } from 'svc/thread';

import type { ServiceAnswer } from '../answers.ts';
import type { Desk } from '../desk.ts';
import { toolAnswer } from '../prometheus/answer.ts';
import type { Asked, Forwarded, Packed, PackInput, ServiceQuestion } from '../thread-contract.ts';
import { decodeAnswer, decodeRange } from './decode.ts';
import { type PackLimits, Packer } from './pack.ts';
import { plan, planService } from './plan.ts';

/** What is computed in the thread for a driver that keeps its samples elsewhere. */
export class Forwarder {
  readonly #desk: Desk;
  readonly #now: () => number;
  readonly #packer: Packer;

  constructor(desk: Desk, limits: PackLimits, now: () => number) {
    this.#desk = desk;
    this.#now = now;
    this.#packer = new Packer(limits, now);
  }

  settle(limits: PackLimits): void {
    this.#packer.settle(limits);
  }

  methods() {
    const desk = this.#desk;
    return {
      plan: (asked: Asked): Forwarded => plan(desk, asked, this.#now()),
      planService: (question: ServiceQuestion): Forwarded => planService(desk, question),
      decode: ({ body, kind }: { readonly body: Uint8Array; readonly kind: 'query' | 'series' }): ServiceAnswer => decodeAnswer(body, kind),
      async reshape(body: Uint8Array, { signal }: { readonly signal: AbortSignal }) {
        const bytes = await desk.ask({ signal }, (budget) => toolAnswer({ budget, maxBytes: desk.limits.maxAnswerBytes }, decodeRange(body)));
        return transferred(bytes, [bytes]);
      },
      pack: (input: PackInput): Packed => {
        const packed = this.#packer.pack(input);
        return transferred(packed, packed.bodies);
      },
    };
  }
}
