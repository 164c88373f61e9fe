import { definePlugin, defineService, type Handle, route, type RouteDeclaration } from 'svc/sdk';
import type { StoreCare, StoreReport } from 'svc/store';
import { Type } from 'typebox';

const Report = Type.Object({
  blocks: Type.Integer({ description: 'Number of intact blocks' }),
  bytes: Type.Integer({ description: 'Their bytes' }),
  damaged: Type.Integer({ description: 'Number of parts that cannot be read' }),
  damage: Type.Array(Type.String(), { description: 'What cannot be read' }),
  removed: Type.Array(Type.String(), { description: 'What was removed' }),
  away: Type.Array(Type.String(), { description: 'Stores that did not answer' }),
});

const stores = ['metrics', 'logs', 'traces'] as const;
const careMs = 31 * 60_000;

/** Services by id: the plugins of the stores may be missing. */
const careTokens = stores.map(
  (store) => [store, defineService<StoreCare>(`${store}.care`)] as const,
);

export default definePlugin({
  activate({ services, http }) {
    const cares = careTokens.map(([store, token]) => [store, services.maybe(token)] as const);
    http.routes(careRoutes(cares));
  },
});

type Cares = readonly (readonly [store: string, care: Handle<StoreCare>])[];

const careRoutes = (cares: Cares): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/stores/check',
    access: 'admin',
    summary: 'Check the blocks of all stores and report damage',
    description: 'A damaged part costs only its own data; restored files are used again at once.',
    response: Report,
    status: 200,
    timeoutMs: careMs,
    action: 'store:check',
    handle: () => reportOf(cares, (care) => care.check()),
  }),
  route({
    method: 'POST',
    path: '/api/v1/stores/mend',
    access: 'admin',
    summary: 'Remove lost data from the stores',
    description:
      'Rebuilds damaged downsampled copies; removes blocks without a file and lost log records.',
    response: Report,
    status: 200,
    timeoutMs: careMs,
    action: 'store:mend',
    handle: () => reportOf(cares, (care) => care.mend()),
  }),
];

/** One store after the other: each reads all that it has. */
async function reportOf(cares: Cares, work: (care: StoreCare) => Promise<StoreReport>) {
  const report = {
    blocks: 0,
    bytes: 0,
    damaged: 0,
    damage: [] as string[],
    removed: [] as string[],
    away: [] as string[],
  };
  for (const [store, care] of cares) {
    if (!care.available) {
      report.away.push(store);
      continue;
    }
    const { blocks, bytes, damage, removed } = await work(care.get());
    report.blocks += blocks;
    report.bytes += bytes;
    report.damaged += damage.length;
    report.damage.push(...damage.map((sentence) => `${store}: ${sentence}`));
    report.removed.push(...removed.map((part) => `${store}: ${part}`));
  }
  return report;
}
