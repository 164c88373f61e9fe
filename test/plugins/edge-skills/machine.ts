import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';

import { type EdgeMethod, EdgeMethods, type Policy } from 'svc/contracts/edge-uplink';
import type { SkillAnswer, OfferedSkill } from 'svc/edge-protocol';
import { startTestEdge, type TestEdge } from 'svc/testing';

import { onDisk } from '../../on-disk.ts';
import { noSkills } from './no-skills.ts';

export type Skills = Policy['skills'];

/** A folder of this test, without a link in its path. */
export function folderOf(t: Pick<TestContext, 'after'>): {
  readonly root: string;
  write(path: string, text: string): string;
} {
  const root = mkdtempSync(join(onDisk(), 'svc-skills-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  return {
    root,
    write(path, text) {
      const file = join(root, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
  };
}

export const policyOf = (skills: Partial<Skills>): { skills: Skills; current(): Policy } => ({
  skills: {
    ...noSkills,
    enabled: true,
    views: ['*'],
    ...skills,
    measure: [...(skills.measure ?? []), ...(skills.paths ?? [])],
  },
  current() {
    return {
      tcp: [],
      webshell: false,
      skills: this.skills,
      plugins: { allowed: [] },
      logs: { paths: [] },
    };
  },
});

/** Programs of this test in front of those of the machine, by name; text of a shell script. */
export function programsOf(
  t: Pick<TestContext, 'after'>,
  scripts: Readonly<Record<string, string>>,
): string {
  const { root, write } = folderOf(t);
  for (const [name, text] of Object.entries(scripts)) {
    chmodSync(write(name, `#!/bin/sh\n${text}\n`), 0o755);
  }
  const before = process.env['PATH'];
  process.env['PATH'] = `${root}:${before}`;
  t.after(() => void (process.env['PATH'] = before));
  return root;
}

export interface SkilledEdge {
  readonly edge: TestEdge;
  list(): Promise<readonly OfferedSkill[]>;
  run(
    key: string,
    params?: object,
    options?: {
      readonly timeoutMs?: number;
      readonly change?: boolean;
      readonly signal?: AbortSignal;
    },
  ): Promise<SkillAnswer>;
}

/** Starts an agent's host with the skills alone, called like through the tunnel. */
export async function skilledEdge(
  t: TestContext,
  policy: { current(): Policy },
  dataDir?: string,
): Promise<SkilledEdge> {
  const edge = await startTestEdge(t, {
    plugins: ['programs', 'edge-skills'],
    services: { 'uplink.policy': policy },
    ...(dataDir !== undefined && { dataDir }),
  });
  const method = (name: string): EdgeMethod =>
    edge.contributions<EdgeMethod>(EdgeMethods).find((one) => one.name === name)!;
  let asked = 0;
  return {
    edge,
    list: async () =>
      (
        (await method('skill_list').run({}, { signal: new AbortController().signal })) as {
          skills: readonly OfferedSkill[];
        }
      ).skills,
    async run(
      key,
      params = {},
      { timeoutMs = 20_000, change = false, signal = new AbortController().signal } = {},
    ) {
      const order = { key, params, timeout_ms: timeoutMs, audit_id: `audit-${++asked}` };
      return (await method(change ? 'skill_change' : 'skill_execute').run(order, {
        signal,
      })) as SkillAnswer;
    },
  };
}
