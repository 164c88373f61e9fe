import type { RunningCore } from '../../../core/boot/boot.ts';
import type { Logger } from '../../../core/sdk/index.ts';
import type { JoinTokens } from './join-tokens.ts';
import type { NodeCard } from './rows.ts';
import type { WireKeys } from './wire-keys.ts';
import { answerWire, type WireAnswer, WireServer } from './wire-server.ts';

interface HouseWireOptions {
  readonly card: NodeCard;
  readonly keys: WireKeys;
  readonly log: Logger;
  readonly joins: JoinTokens;
  /** Secret keys of this node. */
  readonly secrets: () => readonly string[];
  /** House of this node, while it owns the data for certain. */
  readonly house: () => RunningCore | undefined;
  /** Answers what else nodes ask an owner. */
  readonly answer: WireAnswer;
}

/** The wire as an owner answers on it; undefined for a node that has no address for others. */
export function houseWire({
  card: { wire },
  keys,
  log,
  joins,
  secrets,
  house,
  answer: more,
}: HouseWireOptions): WireServer | undefined {
  if (wire === '') {
    return undefined;
  }
  return new WireServer({
    place: wire,
    keys,
    log,
    take() {
      const http = house()?.parts.http;
      return http && ((connection) => http.take(connection));
    },
    answers: [
      (path, stream) => {
        const token = house()?.operatorToken;
        if (token === undefined || path !== '/house') {
          return token !== undefined && more(path, stream);
        }
        answerWire(stream, { operator: token, keys: secrets() });
        return true;
      },
    ],
    joins: {
      keyOf: (id) => joins.keyOf(id),
      answer(id, stream) {
        const answer = joins.redeem(id);
        answerWire(stream, { answer, keys: answer === 'good' ? secrets() : [] });
      },
    },
  });
}
