import type { RunEvent } from 'svc/contracts/chat';
import type { Models } from 'svc/contracts/model';
import type { PersonaDirectory } from 'svc/contracts/persona';
import {
  eventRoute,
  type Principal,
  route,
  type RouteDeclaration,
  type ServerEvent,
  SvcError,
} from 'svc/sdk';
import { Type } from 'typebox';

import { shownCalls, usageOf } from './run/closing.ts';
import type { Runs } from './run/runs.ts';
import type { RunStore } from './run/run-store.ts';
import { Ask, ByRun, BySession, Reply, RunItem, shownRun, StreamQuery } from './schema.ts';
import { path } from './session-routes.ts';
import type { Sessions } from './session/sessions.ts';

/** Clients of UI message streams look for it. */
const protocol = { 'x-vercel-ai-ui-message-stream': 'v1' };
const longestReplyMs = 15 * 60_000;
const shownRuns = 50;

export interface RunRoutesPorts {
  readonly runs: Runs;
  readonly store: RunStore;
  readonly sessions: Sessions;
  readonly models: Models;
  readonly personas: PersonaDirectory;
}

export const runRoutes = (ports: RunRoutesPorts): readonly RouteDeclaration[] => [
  ...sendRoutes(ports),
  ...followRoutes(ports),
];

/** Sending a message, in the two ways of being answered. */
const sendRoutes = ({ runs, models, personas }: RunRoutesPorts): readonly RouteDeclaration[] => {
  /** The persona's own model, or the default: whether there is one to ask. */
  const requireModel = (agent: string | undefined): void => {
    const usable = models.usable(
      (agent === undefined ? undefined : personas.find(agent))?.model ?? '',
    );
    if (!usable.ok) {
      throw new SvcError('conflict', usable.message, { reason: 'chat.no_model' });
    }
  };
  return [
    route({
      method: 'POST',
      path: `${path}/{id}/messages`,
      access: 'any',
      devices: 'narrowed',
      summary: 'Send a message and wait for the whole reply',
      description:
        "If finish_reason is approval, the run is waiting for a person's decision: follow the run to get the reply. If the persona works in the background, the request returns at once.",
      params: BySession,
      body: Ask,
      response: Reply,
      status: 200,
      timeoutMs: longestReplyMs,
      errors: ['not_found', 'forbidden', 'conflict', 'budget_exceeded', 'upstream_error'],
      handle: async ({ principal, params, body, signal, note }) => {
        requireModel(body.agent);
        const { run_id: run } = await runs.start({
          ...body,
          principal,
          session_id: params.id,
          origin: 'chat',
        });
        note({ resourceType: 'chat session', resourceId: params.id, after: { run_id: run } });
        const { finish_reason: finish } = await runs.settled(
          principal,
          run,
          signal,
          (agent) => personas.find(agent)?.background === true,
        );
        return reply(runs, principal, run, finish);
      },
    }),
    eventRoute({
      method: 'POST',
      path: `${path}/{id}/messages/stream`,
      access: 'any',
      devices: 'narrowed',
      summary: 'Send a message and stream the reply',
      description:
        'Events are UI message stream chunks, each with an event name and an id (`<run>.<seq>`). The run continues if the client disconnects; resume with GET and Last-Event-ID.',
      params: BySession,
      body: Ask,
      headers: protocol,
      timeoutMs: longestReplyMs,
      errors: ['not_found', 'forbidden', 'conflict'],
      handle: async ({ principal, params, body, note }) => {
        const { run_id: run } = await runs.start({
          ...body,
          principal,
          session_id: params.id,
          origin: 'chat',
        });
        note({ resourceType: 'chat session', resourceId: params.id, after: { run_id: run } });
        return framed(run, runs.follow(principal, run));
      },
    }),
  ];
};

/** Routes that follow a run, for whoever joins later. */
const followRoutes = ({ runs, store, sessions }: RunRoutesPorts): readonly RouteDeclaration[] => [
  eventRoute({
    method: 'GET',
    path: `${path}/{id}/messages/stream`,
    access: 'any',
    devices: 'narrowed',
    summary: 'Follow a run from its start, or after Last-Event-ID',
    params: BySession,
    query: StreamQuery,
    headers: protocol,
    timeoutMs: longestReplyMs,
    errors: ['not_found'],
    handle: async ({ principal, params, query, lastEventId }) => {
      await sessions.own(principal, params.id);
      const run = query.run_id ?? (await store.ofSession(params.id, 1))[0]?.id ?? 'yet';
      await runs.requireIn(params.id, principal, run);
      return framed(run, runs.follow(principal, run, seqOf(lastEventId, run)));
    },
  }),
  route({
    method: 'GET',
    path: `${path}/{id}/runs`,
    access: 'any',
    devices: 'narrowed',
    summary: 'List the latest runs of a session, including background and waiting runs',
    params: BySession,
    response: Type.Object({ items: Type.Array(RunItem) }),
    errors: ['not_found'],
    handle: async ({ principal, params }) => {
      await sessions.own(principal, params.id);
      return { items: (await store.ofSession(params.id, shownRuns)).map(shownRun) };
    },
  }),
  route({
    method: 'GET',
    path: `${path}/{id}/runs/{run_id}`,
    access: 'any',
    devices: 'narrowed',
    summary: "Get a run's result so far",
    params: ByRun,
    response: Reply,
    errors: ['not_found'],
    handle: async ({ principal, params }) => {
      const row = await runs.requireIn(params.id, principal, params.run_id);
      return reply(
        runs,
        principal,
        params.run_id,
        row.finish_reason ?? (row.state === 'waiting' ? 'approval' : 'background'),
      );
    },
  }),
  route({
    method: 'POST',
    path: `${path}/{id}/runs/{run_id}/cancel`,
    access: 'any',
    devices: 'narrowed',
    summary: 'Stop a run; a change in progress is finished first',
    params: ByRun,
    status: 202,
    errors: ['not_found'],
    handle: async ({ principal, params }) => {
      await runs.requireIn(params.id, principal, params.run_id);
      await runs.cancel(principal, params.run_id);
    },
  }),
];

async function reply(runs: Runs, principal: Principal, run: string, finish: string) {
  const state = await runs.stateOf(principal, run);
  const { ended, turns } = state;
  if (ended?.error !== undefined && turns.length === 0) {
    throw new SvcError(
      ended.finish === 'budget' ? 'budget_exceeded' : 'upstream_error',
      ended.error,
      { reason: 'chat.no_reply' },
    );
  }
  const waiting = turns.flatMap(({ calls }) => calls).filter(({ state: at }) => at === 'waiting');
  return {
    message: await runs.textOf(principal, run),
    agent: state.routed?.agent ?? null,
    tool_calls: shownCalls(state),
    usage: usageOf(state),
    run_id: run,
    finish_reason: finish,
    approvals: waiting.flatMap(({ approval }) => approval ?? []),
  };
}

async function* framed(run: string, events: AsyncIterable<RunEvent>): AsyncGenerator<ServerEvent> {
  let isOver = false;
  for await (const { seq, type, data } of events) {
    isOver = type === 'finish';
    yield { id: `${run}.${seq}`, event: type, data: { type, ...data } };
  }
  // Without it a client comes back: another worker goes on with the run.
  if (isOver) {
    yield { data: '[DONE]' };
  }
}

function seqOf(lastEventId: string | undefined, run: string): number {
  const [of, seq] = (lastEventId ?? '').split(/\.(?=\d+$)/);
  return of === run && seq !== undefined ? Number(seq) : 0;
}
