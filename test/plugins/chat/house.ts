import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';

import type { KnownPersona } from 'svc/contracts/persona';
import type { TestHostOptions } from 'svc/testing';

import { FakeModel } from '../../../plugins/model/cli/fake-model/fake-model.ts';
import type { Rule } from '../../../plugins/model/cli/fake-model/script.ts';
import { type SkillHouse, skillHouse, tools } from '../skill/house.ts';
import { directory, persona } from './stand-ins.ts';

export interface AgentHouse extends SkillHouse {
  readonly fake: FakeModel;
  readonly session: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the assertion says
  send(content: string, session?: string, agent?: string): Promise<any>;
  newSession(): Promise<string>;
  /** Polls: a run continues in the background once a person has decided. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  ended(run: string, session?: string): Promise<any>;
}

export interface AgentHouseOptions extends Partial<TestHostOptions> {
  readonly rules: readonly Rule[];
  readonly personas?: readonly KnownPersona[];
}

/**
 * Starts gate, skills, approvals, models and chat as shipped, with a scripted model; anna asks, and
 * changes are enabled. With the persona plugin it has those that a test makes.
 */
export async function agentHouse(
  t: Pick<TestContext, 'after'>,
  { rules, personas, ...options }: AgentHouseOptions,
): Promise<AgentHouse> {
  const fake = await FakeModel.start({ rules });
  t.after(() => fake.close());
  const known = personas ?? [persona({ name: 'sre', permission_mode: 'dual-sign-required' })];
  const kit = await skillHouse(t, {
    plugins: ['gate', 'approval', 'skill', 'setting', 'model', 'chat', tools],
    ...options,
    services: {
      ...(options.plugins?.includes('persona') !== true && {
        'persona.directory': directory(...known),
      }),
      ...options.services,
    },
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
      SVC_LLM_COMPATIBLE_BASE_URL: fake.url,
      SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
      ...options.environment,
    },
  });
  await kit.allowWrites();
  const newSession = async (): Promise<string> =>
    (await kit.ask('anna', 'POST', '/chat/sessions', {})).body.id as string;
  const session = await newSession();
  return Object.assign(kit, {
    fake,
    session,
    newSession,
    send: async (content: string, into = session, agent?: string) =>
      (
        await kit.ask('anna', 'POST', `/chat/sessions/${into}/messages`, {
          content,
          ...(agent !== undefined && { agent }),
        })
      ).body,
    async ended(run: string, of = session) {
      for (let waited = 0; ; waited += 20) {
        const { body } = await kit.ask('anna', 'GET', `/chat/sessions/${of}/runs/${run}`);
        if (body.finish_reason !== 'approval' && body.finish_reason !== 'background') {
          return body;
        }
        assert.ok(waited < 20_000, JSON.stringify(body));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  });
}

/** Returns a message without what svc adds to it for one turn. */
export const withoutTail = (text: string): string =>
  text.replace(/\n\n<system-reminder>[^<]*<\/system-reminder>$/, '');

/** A script that makes these calls, one a turn, and then says `last`. */
export const turns = (
  calls: readonly (readonly [name: string, args: object])[],
  last: string,
): readonly Rule[] => [
  ...calls.map(([name, args], at): Rule => ({
    when: { turn: at + 1 },
    reply: { tool_calls: [{ name, arguments: args }] },
  })),
  { reply: { text: last } },
];
