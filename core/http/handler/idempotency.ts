import { createHash } from 'node:crypto';

import { principalKey } from '../../auth/index.ts';
import { messageOf } from '../../sdk/index.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { IdempotencyPlace, IdempotencyRow } from '../exchange/ports.ts';
import { seal, unseal } from '../exchange/seal.ts';
import { errors } from './errors.ts';

const keptMs = 24 * 3_600_000;
const saneKey = /^[\x21-\x7e]{1,200}$/;

/** The answer that the first request with this key got. */
interface EarlierAnswer {
  readonly status: number;
  readonly body: string | undefined;
}

/** A key that this request is the first to use. */
export class Claim {
  readonly row: IdempotencyRow;
  readonly #exchange: Exchange;
  readonly #name: string;
  #attached = false;

  constructor(exchange: Exchange, row: IdempotencyRow, name: string) {
    this.#exchange = exchange;
    this.row = row;
    this.#name = name;
  }

  /** The row went along with a change. */
  attach(): void {
    this.#attached = true;
  }

  /** The change was rolled back, and the row with it. */
  detach(): void {
    this.#attached = false;
  }

  /** Keeps the answer for a repeat; does nothing while no change has taken the row along. */
  async answer(status: number, body: string | undefined): Promise<void> {
    const { front, requestId } = this.#exchange;
    if (!this.#attached) {
      return;
    }
    try {
      await front.changes.idempotency.complete(this.row, {
        status,
        body: seal(front.cursorKey, purpose(this.row), JSON.stringify({ body })),
      });
    } catch (error) {
      // The change stands and its caller is about to get its answer; only a repeat would have to ask again.
      front.log.warn(
        {
          event: 'http.answer_not_kept',
          request_id: requestId,
          route: this.row.route,
          cause: messageOf(error),
        },
        'failed to store a response for idempotent retries; retries will be refused',
      );
    }
  }

  release(): void {
    this.#exchange.front.claims.delete(this.#name);
  }
}

/** Claims the request's `Idempotency-Key`, or finds the answer it got before. */
export async function claimKey(exchange: Exchange): Promise<Claim | EarlierAnswer | undefined> {
  const { front, req, principal, served } = exchange;
  const key = req.headers['idempotency-key'];
  // Callers without a name would share their keys, and with them each other's answers.
  if (
    key === undefined ||
    served!.route.declaration.method !== 'POST' ||
    principal.kind === 'anonymous'
  ) {
    return undefined;
  }
  if (typeof key !== 'string' || !saneKey.test(key)) {
    throw errors.idempotency_key();
  }
  const place: IdempotencyPlace = {
    principal: principalKey(principal),
    route: served!.route.key,
    key,
  };
  const name = JSON.stringify([place.principal, place.route, key]);
  if (front.claims.has(name)) {
    throw errors.idempotency_running();
  }
  front.claims.add(name);
  try {
    const requestHash = hashRequest(exchange);
    const row = await front.changes.idempotency.find(place, front.clock.now() - keptMs);
    if (row) {
      front.claims.delete(name);
      return earlierAnswer(exchange, row, requestHash);
    }
    return new Claim(
      exchange,
      { ...place, requestHash, createdAt: front.clock.now(), answer: undefined },
      name,
    );
  } catch (error) {
    front.claims.delete(name);
    throw error;
  }
}

function earlierAnswer(
  { front }: Exchange,
  row: IdempotencyRow,
  requestHash: string,
): EarlierAnswer {
  if (row.requestHash !== requestHash) {
    throw errors.idempotency_reused();
  }
  const text = row.answer && unseal(front.cursorKey, purpose(row), row.answer.body);
  if (row.answer === undefined || text === undefined) {
    throw errors.idempotency_lost();
  }
  return { status: row.answer.status, body: (JSON.parse(text) as { body?: string }).body };
}

/** Hashes what tells a request from another of the same key; a streamed body, which nobody has read yet, by its length. */
function hashRequest({ req, rawBody, served }: Exchange): string {
  const hash = createHash('sha256').update(`${req.url}\n${req.headers['content-type'] ?? ''}\n`);
  const unread =
    served!.route.declaration.streamed === true ? (req.headers['content-length'] ?? '') : '';
  return hash.update(rawBody ?? unread).digest('hex');
}

const purpose = ({ principal, route, key }: IdempotencyPlace): string =>
  JSON.stringify(['answer', principal, route, key]);
