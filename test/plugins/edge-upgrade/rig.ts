import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { UpgradeOrder } from 'svc/edge-protocol';
import { isSvcError } from 'svc/sdk';
import { startManager } from '../edge-uplink/far-side.ts';
import { Launched, until } from './launched.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const tsx = import.meta.resolve('tsx');
const agentFile = fileURLToPath(new URL('./agent.ts', import.meta.url));

/** A version of the real agent, as a file that can be fetched and run; `before` are lines of shell that come first. */
export const agentProgram = (version: string, before = ''): string =>
  `#!/bin/sh\n${before}\nAGENT_VERSION=${version} TSX_TSCONFIG_PATH=${root}tsconfig.json exec ${process.execPath} --import ${tsx} ${agentFile} "$@"\n`;

/** Script that passes its self-test without being the agent. */
export const pretender = (version: string, serving: string): string =>
  `#!/bin/sh\ncase "$*" in *--self-test*) echo '{"version":"${version}"}';; *) ${serving};; esac\n`;

export interface RigOptions {
  readonly installed?: string;
  readonly trialSeconds?: number;
  readonly policy?: string;
  /** Parent of the data folder. */
  readonly within?: string;
}

const keys = generateKeyPairSync('ed25519');
const releaseKey = keys.publicKey
  .export({ format: 'der', type: 'spki' })
  .subarray(-32)
  .toString('base64');

/** Simulates a manager, and an agent 1.0.0 under its launcher: orders, kills, and their outcome. */
export async function rig(t: Pick<TestContext, 'after'>, options: RigOptions = {}) {
  const dataDir = mkdtempSync(join(options.within ?? tmpdir(), 'svc-up-'));
  const manager = await startManager(t as TestContext);
  const packages = new Map<string, (response: ServerResponse) => void>();
  manager.behaviour.push = ({ path, user }, response) => {
    const serve = packages.get(path);
    if (serve && user === manager.credentials.access_key) {
      serve(response);
    } else {
      response.writeHead(404).end();
    }
  };
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(join(dataDir, 'edge.json'), JSON.stringify(manager.credentials), { mode: 0o600 });
  if (options.policy !== undefined) {
    writeFileSync(join(dataDir, 'policy.yaml'), options.policy);
  }
  const launched = new Launched(dataDir, options.installed ?? agentProgram('1.0.0'), {
    SVC_EDGE_RELEASE_KEY: releaseKey,
    SVC_EDGE_HEALTHY_SECONDS: '1',
    SVC_EDGE_TRIAL_SECONDS: String(options.trialSeconds ?? 120),
    SVC_EDGE_FETCH_TRIES: '2',
  });
  t.after(async () => {
    await launched.end();
    launched.killAgent();
    rmSync(dataDir, { recursive: true, force: true });
  });
  launched.start();

  const told = (job: string) =>
    manager.events('upgrade_state').filter((event) => event['job_id'] === job);
  const ending = (job: string) =>
    told(job).find(({ state }) => ['succeeded', 'failed', 'rolled_back'].includes(state as string));
  return {
    dataDir,
    manager,
    launched,
    packages,
    told,

    /** Offers a program; what is left out of the order is as it should be. */
    offer(
      program: string | Buffer,
      wish: Partial<UpgradeOrder> = {},
      serve?: (response: ServerResponse) => void,
    ): UpgradeOrder {
      const sha256 = createHash('sha256').update(program).digest('hex');
      const url = `/internal/edge/packages/${sha256.slice(0, 12)}`;
      packages.set(
        url,
        serve ??
          ((response) =>
            void response
              .writeHead(200, {
                'content-type': 'application/octet-stream',
                'content-length': program.length,
              })
              .end(program)),
      );
      const ordered = wish.sha256 ?? sha256;
      return {
        job_id: randomUUID(),
        url,
        sha256: ordered,
        signature: sign(null, Buffer.from(ordered, 'hex'), keys.privateKey).toString('base64'),
        ...wish,
      };
    },

    /**
     * Orders again where the agent has just reconnected, to announce what it serves by now, or is
     * connected before all of it has started.
     */
    async order(order: UpgradeOrder): Promise<unknown> {
      const options = { timeoutMs: 15_000, idempotencyKey: order.job_id };
      for (let left = 100; ; left -= 1) {
        try {
          return await (await manager.session()).call('upgrade', order, options);
        } catch (error) {
          const isSoon =
            isSvcError(error) &&
            (error.code === 'unavailable' || /method upgrade does not exist/.test(error.message));
          if (!isSoon || left === 0) {
            throw error;
          }
          await pause(200);
        }
      }
    },

    async ended(job: string): Promise<{ state: string; error: string | undefined }> {
      await until(
        'the upgrade ends',
        () => ending(job) !== undefined,
        90_000,
        () => `${JSON.stringify(told(job))}\n${launched.said.slice(-6_000)}`,
      );
      const { state, error } = ending(job)!;
      return { state: state as string, error: error as string | undefined };
    },

    /** Waits until the serving agent has this version, and answers. */
    async serves(version: string): Promise<void> {
      const versionNow = () =>
        (
          manager.hellos.findLast(({ purpose }) => purpose === 'serve') as unknown as {
            agent_version?: string;
          }
        )?.agent_version;
      const answers = async (): Promise<boolean> => {
        if (versionNow() !== version) {
          return false;
        }
        return await manager.session().then(
          async (session) =>
            Array.isArray(
              await session.call('plugin_status', {}, { timeoutMs: 5_000 }).catch(() => undefined),
            ),
          () => false,
        );
      };
      await until(
        `an agent ${version} serves`,
        answers,
        60_000,
        () => `${versionNow()}\n${launched.said.slice(-6_000)}`,
      );
    },

    /** Kills the agent once what it does is seen; resolves with its process. */
    async killWhen(what: string, holds: () => boolean): Promise<number> {
      await until(what, holds, 60_000, () => launched.said.slice(-6_000));
      const pid = launched.killAgent();
      assert.ok(pid, `there was an agent to kill: ${what}`);
      return pid;
    },

    /** Returns the agent's stored state. */
    state: (): string =>
      String(
        (JSON.parse(launched.file('plugins/edge-upgrade/job.json') ?? '{}') as { state?: string })
          .state,
      ),
  };
}
