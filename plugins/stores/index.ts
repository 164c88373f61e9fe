import {
  definePlugin,
  defineService,
  type Handle,
  messageOf,
  route,
  type RouteDeclaration,
} from 'svc/sdk';
import { type Static, Type } from 'typebox';

const Report = Type.Object({
  blocks: Type.Integer({ description: 'Number of intact blocks' }),
  bytes: Type.Integer({ description: 'Total size of all blocks, in bytes' }),
  damaged: Type.Integer({
    description: 'Number of parts that cannot be read; an unavailable store counts as one',
  }),
  damage: Type.Array(Type.String(), { description: 'Parts that cannot be read' }),
  acceptable: Type.Array(Type.String(), {
    description: 'Damaged parts that are no longer reported if accept_loss is set',
  }),
  mended: Type.Array(Type.String(), { description: 'Parts that were restored' }),
  removed: Type.Array(Type.String(), { description: 'Parts that were removed' }),
  aside: Type.Array(Type.String(), {
    description: 'Names under which replaced damaged files were kept',
  }),
  away: Type.Array(Type.String(), { description: 'Stores that did not respond, and why' }),
});

const Mend = Type.Object({
  accept_loss: Type.Optional(
    Type.Boolean({
      description: 'Also drop data that is lost for good, so that query results stop reporting it',
    }),
  ),
});

/** Outcome of one store. */
type StoreReport = Omit<Static<typeof Report>, 'damaged' | 'away'>;

/** What is used of a store's care. */
interface StoreCare {
  check(): Promise<StoreReport>;
  mend(acceptLoss: boolean): Promise<StoreReport>;
}

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
    summary: 'Check the data of all stores and report damage',
    description:
      'A damaged part affects only its own data; restored files are put back into use immediately.',
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
    summary: 'Repair damaged parts of the stores',
    description:
      'Repairs flipped bits and rebuilds data derived from other blocks. Data lost for good continues to be reported unless accept_loss is set.',
    body: Mend,
    response: Report,
    status: 200,
    timeoutMs: careMs,
    action: 'store:mend',
    handle: ({ body }) => reportOf(cares, (care) => care.mend(body.accept_loss ?? false)),
  }),
];

/** One store after the other: each reads all that it has. One that is away was not looked at. */
async function reportOf(
  cares: Cares,
  work: (care: StoreCare) => Promise<StoreReport>,
): Promise<Static<typeof Report>> {
  const report: Static<typeof Report> = {
    blocks: 0,
    bytes: 0,
    damaged: 0,
    damage: [],
    acceptable: [],
    mended: [],
    removed: [],
    aside: [],
    away: [],
  };
  for (const [store, care] of cares) {
    const found = await attempted(care, work);
    if (typeof found === 'string') {
      report.damaged += 1;
      report.away.push(`${store}: ${found}`);
      continue;
    }
    report.blocks += found.blocks;
    report.bytes += found.bytes;
    report.damaged += found.damage.length;
    for (const part of ['damage', 'acceptable', 'mended', 'removed', 'aside'] as const) {
      report[part].push(...found[part].map((name) => `${store}: ${name}`));
    }
  }
  return report;
}

/** The report of one store, or why there is none. */
async function attempted(
  care: Handle<StoreCare>,
  work: (care: StoreCare) => Promise<StoreReport>,
): Promise<StoreReport | string> {
  if (!care.available) {
    return 'its plugin is not running';
  }
  try {
    return await work(care.get());
  } catch (error) {
    return messageOf(error);
  }
}
