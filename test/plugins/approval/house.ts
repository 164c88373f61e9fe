import type { TestContext } from 'node:test';

import {
  type Approval,
  type ApprovalAsk,
  type ApprovalBook,
  Approvals,
} from 'svc/contracts/approval';
import type { TestHostOptions } from 'svc/testing';

import { type SkillHouse, skillHouse, tools } from '../skill/house.ts';

export interface TestPersona {
  name: string;
  version: number;
  tools: string[];
  disallowed_tools: string[];
  permission_mode: string;
}

export interface ApprovalHouse extends SkillHouse {
  readonly clock: { ahead: number };
  readonly personas: TestPersona[];
  book(): ApprovalBook;
  /** Requests an approval like a chat run, on behalf of anna unless specified otherwise. */
  asked(more?: Partial<ApprovalAsk>): Promise<Approval>;
  sign(
    who: Parameters<SkillHouse['ask']>[0],
    approval: Approval,
    digest?: string,
  ): ReturnType<SkillHouse['ask']>;
  deny(
    who: Parameters<SkillHouse['ask']>[0],
    approval: Approval,
    reason?: string,
  ): ReturnType<SkillHouse['ask']>;
  statusOf(id: string): Promise<string>;
}

/** Gate, approvals and skills as they ship, with people, personas and time that a test moves; changes are switched on. */
export async function approvalHouse(
  t: Pick<TestContext, 'after'>,
  options: Partial<TestHostOptions> = {},
): Promise<ApprovalHouse> {
  const clock = { ahead: 0 };
  const personas: TestPersona[] = [
    {
      name: 'sre',
      version: 1,
      tools: [],
      disallowed_tools: [],
      permission_mode: 'dual-sign-required',
    },
  ];
  const kit = await skillHouse(t, {
    plugins: ['gate', 'approval', 'skill', 'setting', tools],
    clock: { now: () => Date.now() + clock.ahead, monotonic: () => performance.now() },
    ...options,
    services: {
      'persona.directory': { find: (name: string) => personas.find((one) => one.name === name) },
      ...options.services,
    },
  });
  await kit.allowWrites();
  const book = (): ApprovalBook => kit.house.service(Approvals);
  let calls = 0;
  return Object.assign(kit, {
    clock,
    personas,
    book,
    asked: (more: Partial<ApprovalAsk> = {}) =>
      book().request({
        owner: { kind: 'chat', ref: 'run-1', session_id: 's-1', tool_call_id: `call-${++calls}` },
        tool: 'sample_dangerous',
        class: 'dangerous',
        signatures: 2,
        args: { host: 'db', times: 1 },
        persona: 'sre',
        target: { kind: 'manager', id: undefined, name: 'this manager' },
        rendered: 'sample_dangerous host="db" times=1 on this manager',
        requested_by: { kind: 'user', id: String(kit.people.anna.id), name: 'anna', role: 'user' },
        ...more,
      }),
    sign: (
      who: Parameters<SkillHouse['ask']>[0],
      { id, args_sha256 }: Approval,
      digest = args_sha256,
    ) =>
      kit.ask(who, 'POST', `/approvals/${id}/approve`, {
        args_sha256: digest,
        comment: 'looked at it',
      }),
    deny: (
      who: Parameters<SkillHouse['ask']>[0],
      { id, args_sha256 }: Approval,
      reason = 'not now',
    ) => kit.ask(who, 'POST', `/approvals/${id}/deny`, { args_sha256, reason }),
    statusOf: async (id: string) => (await book().get(id))!.status,
  });
}
