import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from '../../core/sdk/index.ts';
import { belowManager, clientHandshake, closeCode, dial, openSweeper, sweepMs } from 'svc/tunnel';
import { bootSettings } from '../../core/boot/settings/read-settings.ts';
import { proxyEnvironment } from './proxy.ts';
import { smallSchemas } from './small-ajv.ts';
import { edgeSettings } from './settings.ts';
import { shippedOnly } from './agent.ts';
import type { Product } from '../../core/boot/settings/product.ts';
import type { Environment } from '../../core/boot/settings/settings.ts';
import { every } from '../../core/boot/take-down.ts';
import { systemClock, systemIds } from '../../core/boot/time.ts';
import { errors } from './errors.ts';

export interface SelfTest {
  readonly version: string;
  readonly manager: string;
}

interface Keys {
  readonly manager: string;
  readonly tunnel_path: string;
  readonly access_key: string;
  readonly secret_key: string;
  readonly pin?: string;
  readonly ca?: string;
  readonly proxy?: string;
}

const wholeMs = 25_000;

/**
 * Tests whether this program could be the agent of a data folder: it can read the configuration and
 * the keys, and the manager accepts them. Changes nothing.
 */
export async function testEdge(product: Product, environment: Environment): Promise<SelfTest> {
  const { dataDir } = bootSettings(product, environment, {
    schemas: smallSchemas,
    sources: shippedOnly(product),
    runsOn: 'edge',
    core: edgeSettings,
  });
  const keys = kept<Keys>(join(dataDir, 'edge.json'));
  const machine = kept<{ readonly uuid: string }>(join(dataDir, 'machine.json'));
  const quiet = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
  };
  const sweeper = openSweeper(systemClock, () => undefined);
  const stop = every(sweepMs, 'deadlines', async () => sweeper.tick(), quiet);
  try {
    const { manager, tunnel_path, access_key, secret_key, pin, ca } = keys;
    const proxy = proxyEnvironment(environment)['SVC_EDGE_PROXY'] ?? keys.proxy;
    const signal = AbortSignal.timeout(wholeMs);
    const transport = await dial({
      url: belowManager(manager, tunnel_path).href,
      pin,
      ca,
      proxy,
      signal,
    });
    try {
      await clientHandshake(transport, {
        sweeper,
        ids: systemIds(systemClock),
        accessKey: access_key,
        secretKey: secret_key,
        hello: {
          agent_id: machine.uuid,
          boot_id: 'self-test',
          agent_version: product.version,
          caps: [],
          purpose: 'probe',
        },
      });
    } finally {
      transport.close(closeCode.normal, 'proved');
    }
    return { version: product.version, manager };
  } finally {
    await stop();
  }
}

function kept<T>(file: string): T {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch (cause) {
    throw errors.file_unreadable({ file, cause: messageOf(cause) }, { cause });
  }
}
