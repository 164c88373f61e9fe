import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { ConsoleCards, ConsoleLanguages, ConsolePages } from 'svc/contracts/console';
import { DeviceDetailSources } from 'svc/contracts/device';
import { Examinations } from 'svc/contracts/doctor';
import { CarriedFiles } from 'svc/contracts/drop-ins';
import { EdgeSkills } from 'svc/contracts/edge-skills';
import { EdgeMethods, EdgeStreams } from 'svc/contracts/edge-uplink';
import { Ceilings } from 'svc/contracts/gate';
import { ImPlatforms } from 'svc/contracts/imbridge';
import { Conventions, Fetchers, HostChecks } from 'svc/contracts/investigate';
import { PackTraces } from 'svc/contracts/marketplace';
import { ServerSources } from 'svc/contracts/mcp';
import { Mentions } from 'svc/contracts/mention';
import { ModelProviders } from 'svc/contracts/model';
import { Dashboards } from 'svc/contracts/monitor';
import { ChannelTypes } from 'svc/contracts/notify';
import { PersonaRestraints } from 'svc/contracts/persona';
import { Credentials } from 'svc/contracts/session';
import { LaunchSources } from 'svc/contracts/setting';
import { ToolSources } from 'svc/contracts/skill';

import { Banner, type PointDeclaration } from '../../core/sdk/index.ts';
import { JobSources } from '../../plugins/lib/jobs/source.ts';
import { startWholeHouse, type WholeHouse } from '../whole-house.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const contracts = join(root, 'plugins/lib/contracts');

/** Opened by agents; a manager has nobody who would read them. */
const onEdges = /^(?:uplink\.|skills\.local$)/;

const points: readonly PointDeclaration[] = [
  Banner,
  JobSources,
  { id: 'cli.commands' },
  { id: 'config.files' },
  ConsoleCards,
  ConsoleLanguages,
  ConsolePages,
  DeviceDetailSources,
  Examinations,
  CarriedFiles,
  EdgeSkills,
  EdgeMethods,
  EdgeStreams,
  Ceilings,
  ImPlatforms,
  Fetchers,
  HostChecks,
  PackTraces,
  ServerSources,
  Mentions,
  ModelProviders,
  Dashboards,
  ChannelTypes,
  PersonaRestraints,
  Credentials,
  LaunchSources,
  ToolSources,
  Conventions,
];

/** Ids of every extension point in the contracts, as they stand in the sources. */
const written = (): readonly string[] =>
  [
    ...readdirSync(contracts).map((name) => join(contracts, name)),
    join(root, 'core/sdk/core-services.ts'),
  ]
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) =>
      [
        ...readFileSync(file, 'utf8').matchAll(/= defineExtensionPoint<[^(]*>\(\s*'([a-z.-]+)'/g),
      ].map(([, id]) => id!),
    );

const deep = (levels: number): unknown => (levels === 0 ? 'x' : { a: [deep(levels - 1)] });

const dataShapes: Readonly<Record<string, unknown>> = {
  empty: {},
  nothing: null,
  text: 'a text',
  list: [],
  deep: deep(100),
};

/** What in-process code hands over instead of what the point asks for. */
const codeShapes = [
  '{}',
  'null',
  '(() => undefined)',
  `new Proxy({}, { get: () => { throw new Error('my mistake'); } })`,
] as const;

const tokenOf = (id: string): string =>
  `{ kind: 'extension-point', id: ${JSON.stringify(id)} } as never`;

/** Plugins that get every point wrong, in the plugins folder of a product; returns their ids by point. */
function addGuests(folder: string) {
  const add = (id: string, manifest: object, code?: string): string => {
    mkdirSync(join(folder, id));
    writeFileSync(
      join(folder, id, 'plugin.json'),
      JSON.stringify({
        id,
        version: '1.0.0',
        title: id,
        description: 'Contributes data that no point can use.',
        engines: { host: '^1.0.0' },
        ...(code !== undefined && { entry: 'index.ts' }),
        ...manifest,
      }),
    );
    if (code !== undefined) {
      writeFileSync(
        join(folder, id, 'index.ts'),
        `import { definePlugin } from 'svc/sdk';\nexport default definePlugin({ activate(ctx) { ${code} } });\n`,
      );
    }
    return id;
  };
  return points.map((point, index) => {
    const name = point.id.replaceAll('.', '-');
    const contribute = (value: string): string =>
      `ctx.extend.contribute(${tokenOf(point.id)}, 'guest-' + ctx.id, ${value} as never);`;
    const methods = (answer: string): string =>
      contribute(
        `{ type: 'guest', name: 'guest', ${(point.methods ?? []).map((method) => `${method}: ${answer}`).join(', ')} }`,
      );
    const hasMethods = (point.methods ?? []).length > 0 && point.schema === undefined;
    return {
      point: point.id,
      misfits: [
        ...Object.entries(dataShapes).map(([shape, value]) =>
          add(`data-${name}-${shape}`, {
            kind: 'pack',
            contributes: { [point.id]: { [`guest-${shape}`]: value } },
          }),
        ),
        ...(hasMethods || point.schema !== undefined
          ? [add(`bad-${name}`, {}, contribute(codeShapes[index % codeShapes.length]!))]
          : []),
      ],
      throwers: hasMethods
        ? [
            add(`throws-${name}`, {}, methods(`() => { throw new Error('my mistake'); }`)),
            add(`odd-${name}`, {}, methods('() => 7')),
          ]
        : [],
    };
  });
}

interface Told {
  readonly id: string;
  readonly state: string;
  readonly cause: string | null;
  readonly strikes: readonly { readonly where: string; readonly cause: string }[];
}

/** Requests that ask the points, of people and of programs. */
const asked = [
  'skills',
  'agents',
  'doctor',
  'jobs',
  'devices',
  'system-settings',
  'mcp/servers',
  'monitor/dashboards',
  'aiops/mentions/search?q=a',
].map((path) => `/api/v1/${path}`);

async function plugins(house: WholeHouse): Promise<ReadonlyMap<string, Told>> {
  const list = (await (await house.fetch('/api/v1/plugins?limit=500')).json()) as {
    items: readonly Told[];
  };
  return new Map(
    await Promise.all(
      list.items.map(
        async ({ id }) =>
          [id, (await (await house.fetch(`/api/v1/plugins/${id}`)).json()) as Told] as const,
      ),
    ),
  );
}

test(
  'whatever is contributed to any point, the house serves, systemd is told, and the contributor is named',
  { timeout: 240_000 },
  async (t) => {
    const known = points.map(({ id }) => id);
    assert.deepEqual(
      written().filter((id) => !known.includes(id)),
      [],
      'every point is among those that are tried',
    );
    const folder = mkdtempSync(join(tmpdir(), 'svc-contributions-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const product = join(folder, 'product');
    for (const part of ['plugins', 'config', 'agents', 'skills', 'vault']) {
      cpSync(join(root, part), join(product, part), { recursive: true });
    }
    const own = readdirSync(join(product, 'plugins'));
    const guests = addGuests(join(product, 'plugins'));
    writeFileSync(join(folder, 'systemd-notify'), `#!/bin/sh\necho "$@" >>${folder}/told\n`, {
      mode: 0o755,
    });
    const toldFile = join(folder, 'told');
    for (const start of ['first', 'second'] as const) {
      const house = await startWholeHouse({
        dataDir: join(folder, 'data'),
        product,
        environment: {
          PATH: `${folder}:${process.env['PATH']}`,
          NOTIFY_SOCKET: join(folder, 'socket'),
        },
      });
      try {
        for (const deadline = Date.now() + 20_000; !existsSync(toldFile); await pause(20)) {
          assert.ok(Date.now() < deadline, `${start}: ${house.output()}`);
        }
        assert.match(readFileSync(toldFile, 'utf8'), /^READY=1$/m);
        rmSync(toldFile);
        assert.match(house.output(), /svc v.* is ready at/, start);
        const refused = new Map<string, string>();
        // A contribution that fails may fail three requests before its plugin is out of service.
        for (let round = 0; round < 5; round += 1) {
          refused.clear();
          for (const path of asked) {
            const reply = await house.fetch(path);
            const text = await reply.text();
            if (!reply.ok) {
              refused.set(path, text);
            }
          }
        }
        assert.deepEqual([...refused], [], start);
        const now = await plugins(house);
        const mine = own.flatMap((id) => now.get(id) ?? []);
        const victims = mine.flatMap(({ id, state, cause: why, strikes }) => {
          return (state === 'active' || state === 'discovered') && strikes.length === 0
            ? []
            : [
                `${id} ${state}: ${why ?? ''} ${strikes.map(({ where, cause }) => `${where}: ${cause}`).join('; ')}`,
              ];
        });
        assert.deepEqual(victims, [], start);
        const unnamed = guests
          .filter(({ point }) => !onEdges.test(point))
          .flatMap(({ point, misfits }) =>
            misfits.filter((id) => !saysOf(now.get(id), point) && !isOrdinary(id)),
          );
        assert.deepEqual(unnamed, [], start);
        assert.equal((await house.fetch('/readyz')).status, 200);
      } finally {
        await house.end();
      }
    }
  },
);

/** The point is in what people are told of the plugin that contributed to it. */
const saysOf = (told: Told | undefined, point: string): boolean =>
  told !== undefined &&
  [told.cause ?? '', ...told.strikes.map(({ where, cause }) => `${where} ${cause}`)].some((text) =>
    text.includes(point),
  );

/** Verbs are read by the command line alone, which refuses a wrong one at each use. */
const isOrdinary = (id: string): boolean => /^data-cli-verbs-(?:empty|deep)$/.test(id);
