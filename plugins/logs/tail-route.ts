import {
  type Clock,
  type Scope,
  socketRoute,
  type RouteDeclaration,
  type ThreadHandle,
} from 'svc/sdk';
import type { Asking, AskingOf } from 'svc/query';
import { Type } from 'typebox';

import { errors } from './errors.ts';
import { lokiWording } from './loki-routes.ts';
import { Parameters } from './loki/parameters.ts';
import { parametersOf } from './parameter-list.ts';
import type { TailViewers } from './tail/viewers.ts';
import type { TailInput } from './thread/contract.ts';

const longestDelaySeconds = 5;
const hourMs = 3_600_000;

export interface TailParts {
  readonly thread: ThreadHandle;
  readonly viewers: TailViewers;
  readonly scope: Scope;
  readonly clock: Clock;
  readonly asking: AskingOf;
  /** Why no tail can be opened at the moment. */
  readonly refusal: () => string | undefined;
}

/** Loki's live tail: frames of JSON over a WebSocket. */
export function tailRoute({
  thread,
  viewers,
  scope,
  clock,
  asking,
  refusal,
}: TailParts): RouteDeclaration {
  scope.defer(
    'stop hearing of new lines',
    thread.onNotice(({ kind, value }) => void (kind === 'tail' && viewers.wake(value as number))),
  );

  return socketRoute({
    path: '/loki/api/v1/tail',
    access: 'any',
    devices: 'narrowed',
    summary: 'Loki API: tail lines over a WebSocket',
    wording: lokiWording,
    query: Type.Object(
      {
        query: Type.String({ maxLength: 65_536, description: 'LogQL log query' }),
        delay_for: Type.Optional(
          Type.String({
            maxLength: 10,
            description: 'Seconds to hold back each line in case older ones arrive, at most 5',
          }),
        ),
        limit: Type.Optional(
          Type.String({
            maxLength: 20,
            description: 'Number of earlier lines to send first. Default: 100',
          }),
        ),
        start: Type.Optional(
          Type.String({
            maxLength: 64,
            description: 'Time from which earlier lines are sent. Default: one hour ago',
          }),
        ),
      },
      { additionalProperties: true },
    ),
    async handle({ query, principal, signal }, socket) {
      const reason = refusal();
      if (reason !== undefined) {
        throw errors.no_tails({ refusal: reason });
      }
      await viewers.open(tailInput(query, await asking(principal), clock.now()), {
        principal,
        socket,
        signal,
      });
    },
  });
}

function tailInput(query: object, asking: Asking, now: number): TailInput {
  const parameters = new Parameters(parametersOf(query), now);
  const delay = parameters.text('delay_for') ?? '0';
  if (!/^\d{1,2}$/.test(delay) || Number(delay) > longestDelaySeconds) {
    throw errors.delay({ max: longestDelaySeconds });
  }
  const { start } = parameters.window(hourMs);
  return {
    query: parameters.query,
    delayMs: Number(delay) * 1_000,
    limit: parameters.limit,
    start: start.ms + start.ns / 1e6,
    ...asking,
  };
}
