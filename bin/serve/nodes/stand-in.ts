import { rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';

import { createOperatorToken } from '../../../core/auth/index.ts';
import type { Base } from '../../../core/boot/base.ts';
import { type ListenAddress, tlsOptions } from '../../../core/boot/parts.ts';
import { replaceFile } from '../../../core/boot/settings/replace-file.ts';
import { type Clock, type Ids, type Logger, timestamp } from '../../../core/sdk/index.ts';
import { writeDurably } from '../../../core/storage/index.ts';
import { Door } from './door.ts';
import { Forward } from './forward.ts';
import type { Owner } from './lease.ts';
import type { OwnerLine } from './owner-line.ts';
import { answerJson, pathOf, refuse } from './refusal.ts';

interface StandInOptions {
  readonly address: ListenAddress;
  readonly dataDir: string;
  readonly settings: Base['settings'];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly line: OwnerLine;
  readonly state: () => Standing;
}

/** State of a node that stands by. */
interface Standing {
  readonly owner: Owner | undefined;
  readonly isDrained: boolean;
  /** Why it could not take over when it was its turn. */
  readonly unfit: string | undefined;
  readonly more: readonly string[];
}

/** Stands in for the house at the addresses of a node while another node owns the data. */
export class StandIn {
  readonly #options: StandInOptions;
  readonly #door: Door;
  readonly #runFile: string;
  #forward: Forward | undefined;

  constructor(options: StandInOptions) {
    this.#options = options;
    const { address, settings, log, dataDir } = options;
    this.#runFile = join(dataDir, 'run.json');
    this.#door = new Door({
      hostname: address.hostname,
      port: address.port,
      tls: tlsOptions(settings),
      log,
      answer: (req, res) => this.#answer(req, res),
      upgrade: (req, socket, head) => void this.#forward?.upgrade(req, socket, head),
    });
  }

  /** Opens the addresses, and tells commands on this machine where. */
  async open(): Promise<void> {
    const { dataDir, ids, clock, address, line } = this.#options;
    const { token } = createOperatorToken(join(dataDir, 'keys'), ids, writeDurably);
    this.#forward = new Forward({ line, operator: token, isLeaving: () => !this.#door.isOpen });
    await this.#door.open();
    const run = { pid: process.pid, url: address.url, started_at: timestamp(clock.now()) };
    replaceFile(this.#runFile, JSON.stringify(run));
  }

  /** Leaves the addresses; what has been accepted waits for the next owner. */
  close(): void {
    if (this.#door.isOpen) {
      rmSync(this.#runFile, { force: true });
      this.#door.close();
    }
  }

  #answer(req: IncomingMessage, res: ServerResponse): void {
    const path = pathOf(req);
    if (path === '/healthz') {
      answerJson(req, res, { status: 200, body: { status: 'ok' } });
    } else if (path === '/readyz') {
      this.#answerReadiness(req, res);
    } else {
      void this.#forward?.request(req, res);
    }
  }

  #answerReadiness(req: IncomingMessage, res: ServerResponse): void {
    const { line, state } = this.#options;
    const { owner, isDrained, unfit, more } = state();
    const reasons = unfit === undefined ? [] : [`it could not take over itself: ${unfit}`];
    if (isDrained) {
      refuse(req, res, 'This node is drained: "svc node resume" lets it take traffic again.');
    } else if (!line.isUp) {
      const trouble = `${saidOf(owner)}, which cannot be reached (${line.trouble})`;
      refuse(req, res, `This node stands by: ${[trouble, ...reasons].join('; ')}.`);
    } else {
      const detail = [
        'standing by',
        `${saidOf(owner)} in epoch ${owner?.epoch ?? 0}`,
        ...more,
        ...reasons,
      ].join('; ');
      const fitness = unfit === undefined ? 'ready' : 'degraded';
      const parts = [{ part: 'node', ok: true, state: fitness, detail }];
      answerJson(req, res, { status: 200, body: { status: 'ready', parts } });
    }
  }
}

export const saidOf = (owner: Owner | undefined): string =>
  owner === undefined || owner.url === ''
    ? `node ${owner?.node ?? ''} owns the data`
    : `the node at ${owner.url} owns the data`;
