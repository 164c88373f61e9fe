import { setTimeout as pause } from 'node:timers/promises';

import type { ApiClient } from 'svc/cli';
import { messageOf } from 'svc/sdk';

import type { Case } from './case.ts';
import { site } from './ground.ts';
import type { Answered, MadeCall } from './rubric.ts';
import type { OfferedTool, ToolServer } from './tool-server.ts';

interface Reply {
  readonly message: string;
  readonly agent: string | null;
  readonly tool_calls: readonly MadeCall[];
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cached_tokens?: number;
    readonly requests: number;
  };
  readonly run_id: string;
  readonly finish_reason: string;
  readonly approvals: readonly string[];
  /** Why there is no reply. */
  readonly problem?: string;
}

/** Persona as it ships; the bench asks a copy of it that may also call the tools of the world. */
interface Persona {
  readonly name: string;
  readonly tools: readonly string[];
  readonly disallowed_tools: readonly string[];
  readonly permission_mode: string;
  readonly [field: string]: unknown;
}

const copied = [
  'description',
  'when_to_use',
  'permission_mode',
  'max_turns',
  'critical_reminder',
  'omit_agent_md',
  'body',
  'unknown_fields',
];
const withinMs = 15 * 60_000;
const lookMs = 50;

export interface AskingParts {
  readonly client: ApiClient;
  /** Whoever asks, and signs changes. */
  readonly person: ApiClient;
  readonly server: ToolServer;
  /** `<provider>/<model>`. */
  readonly model: string;
  readonly offered: readonly OfferedTool[];
  readonly copies: Copies;
}

/** Asks one case of a model, through the chat as people use it, and decides about its change. */
export async function ask(asked: Case, question: string, parts: AskingParts): Promise<Answered> {
  const { client, person, server } = parts;
  const begun = performance.now();
  const agent = asked.agent ?? (await routed(client, question));
  const copy = await copyOf(agent, asked, parts);
  const { id: session } = await person.post<{ id: string }>('/api/v1/chat/sessions', {});
  const path = `/api/v1/chat/sessions/${session}`;
  const first = await person
    .post<Reply>(`${path}/messages`, { content: question, agent: copy }, withinMs)
    .catch((error: unknown) => failed(error));
  const reply =
    asked.change === undefined || first.approvals.length === 0
      ? first
      : await decided(person, path, asked.change.decision, first);
  return {
    text: reply.message,
    finish: reply.finish_reason,
    agent,
    calls: reply.tool_calls,
    executed: server.executed,
    turns: reply.usage.requests,
    inputTokens: reply.usage.input_tokens,
    cachedTokens: reply.usage.cached_tokens ?? 0,
    outputTokens: reply.usage.output_tokens,
    seconds: (performance.now() - begun) / 1_000,
    ...(reply.problem !== undefined && { problem: reply.problem }),
  };
}

async function routed(client: ApiClient, question: string): Promise<string> {
  const { persona } = await client.post<{ persona: string }>('/api/v1/agents/route', { question });
  return persona;
}

/**
 * Copies of personas that a bench has made, by what they may do: one for each case would fill the
 * feed of changes, which is among the evidence.
 */
export type Copies = Map<string, string>;

async function copyOf(
  agent: string,
  { tools, budget, change, never = [] }: Case,
  { client, model, offered, copies }: AskingParts,
): Promise<string> {
  const isDangerous = offered.some(
    ({ name, class: kind }) => name === change?.tool && kind === 'dangerous',
  );
  const isChange = change !== undefined || never.length > 0;
  const mode = isDangerous ? 'dual-sign-required' : isChange ? 'mutating-with-confirm' : undefined;
  const key = JSON.stringify([agent, model, tools, budget?.turns, mode]);
  const known = copies.get(key);
  if (known !== undefined) {
    return known;
  }
  const persona = await client.get<Persona>(`/api/v1/agents/${agent}`);
  const name = `bench-${copies.size + 1}-${agent}`;
  const own = offered.map((tool) => `mcp:${site}:${tool.name}`);
  const keyOf = (tool: string): string =>
    offered.some((one) => one.name === tool) ? `mcp:${site}:${tool}` : tool;
  await client.post('/api/v1/agents/custom', {
    ...Object.fromEntries(copied.map((field) => [field, persona[field]])),
    name,
    model,
    tools: tools?.map(keyOf) ?? (persona.tools.length === 0 ? [] : [...persona.tools, ...own]),
    // What another agent answers is measured where that one is asked.
    disallowed_tools: [...persona.disallowed_tools, 'agent_ask'],
    ...(mode !== undefined && { permission_mode: mode }),
    ...(budget?.turns !== undefined && { max_turns: budget.turns }),
    metadata: { routing: 'by-name' },
  });
  copies.set(key, name);
  return name;
}

/** Decides about everything that waits, each once, and returns the reply when the run is over. */
async function decided(
  client: ApiClient,
  path: string,
  decision: 'approve' | 'deny' | 'wait',
  first: Reply,
): Promise<Reply> {
  const run = `${path}/runs/${first.run_id}`;
  const known = new Set<string>();
  for (const deadline = performance.now() + withinMs; performance.now() < deadline;) {
    const reply = await client.get<Reply>(run);
    if (!['approval', 'background'].includes(reply.finish_reason)) {
      // What was said while it waited counts; that it ends here is for the next case.
      return decision === 'wait' ? first : reply;
    }
    for (const id of reply.approvals.filter((one) => !known.has(one))) {
      known.add(id);
      await decideOne(client, id, decision);
    }
    await pause(lookMs);
  }
  throw new Error(`${run} did not end`);
}

async function decideOne(client: ApiClient, id: string, decision: string): Promise<void> {
  const { args_sha256: digest } = await client.get<{ args_sha256: string }>(
    `/api/v1/approvals/${id}`,
  );
  if (decision === 'approve') {
    await client.post(`/api/v1/approvals/${id}/approve`, { args_sha256: digest });
  } else {
    await client.post(`/api/v1/approvals/${id}/deny`, {
      args_sha256: digest,
      reason: 'not now, and not without the owner',
    });
  }
}

const failed = (error: unknown): Reply => ({
  message: '',
  agent: null,
  tool_calls: [],
  usage: { input_tokens: 0, output_tokens: 0, requests: 0 },
  run_id: '',
  finish_reason: 'error',
  approvals: [],
  problem: messageOf(error),
});
