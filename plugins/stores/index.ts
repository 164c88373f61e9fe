import { definePlugin, defineService, type Handle, route, type RouteDeclaration } from 'svc/sdk';
import type { StoreCare, StoreReport } from 'svc/store';
import { Type } from 'typebox';

const Report = Type.Object({
  blocks: Type.Integer({ description: 'blocks that are there' }),
  bytes: Type.Integer({ description: 'bytes in them' }),
  damaged: Type.Integer({ description: 'how many parts cannot be read' }),
  damage: Type.Array(Type.String(), { description: 'what cannot be read' }),
  removed: Type.Array(Type.String(), { description: 'what was taken out' }),
  away: Type.Array(Type.String(), { description: 'stores that did not answer' }),
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
    summary: 'Read every block of the stores through and say what is damaged',
    description:
      'A damaged part costs what it held and nothing else; files that were put back count again at once.',
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
    summary: 'Discard permanently lost data, so that answers no longer mention it',
    description:
      'Damaged thinned copies are removed and made again; blocks without a file and lost log records are discarded.',
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
