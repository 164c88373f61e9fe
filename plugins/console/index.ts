import page from 'browser:./web/main.tsx';
import {
  type ConsoleCard,
  ConsoleCards,
  ConsoleLanguages,
  ConsolePages,
} from 'svc/contracts/console';
import { EdgeFleet } from 'svc/contracts/edge';
import { MetricsQueries, queryFault } from 'svc/contracts/metricsdb';
import { Setup } from 'svc/contracts/session';
import { DeviceScopes, seenBy } from 'svc/query';
import { Banner, BuildInfo, Catalogue, definePlugin, messageOf, Plugins } from 'svc/sdk';

import { errors } from './errors.ts';
import { Assets } from './assets.ts';
import { Changes, toldOf } from './changes.ts';
import { Languages } from './languages.ts';
import { liveRoutes } from './live-routes.ts';
import { pageRoutes } from './page-routes.ts';

const gatherMs = 250;
const lookEveryMs = 1_000;

export default definePlugin({
  errors,
  activate(ctx) {
    const { services, extend, scope } = ctx;
    const build = services.use(BuildInfo);
    const catalogue = services.use(Catalogue);
    const setup = services.maybe(Setup);
    const waiting = (): string | undefined => (setup.available ? setup.get().waiting : undefined);
    const pages = extend.open(ConsolePages);
    const metrics = services.maybe(MetricsQueries);
    const cards = extend.open(ConsoleCards, {
      fault: (_id, { query }: ConsoleCard) => queryFault(metrics, query),
    });
    const languages = new Languages(extend.open(ConsoleLanguages));
    const assets = new Assets(page, () => pages.list().map(({ value }) => value.module));
    const changes = new Changes({
      later: (work) => void scope.timeout('tell pages what has changed', gatherMs, work),
      hello: () => ({
        version: build.version,
        started_at: build.startedAt,
        page: assets.page.entry,
      }),
      seenBy: seenBy(services.maybe(DeviceScopes)),
      unread: (error) =>
        ctx.log.debug(
          { event: 'console.devices_unread', cause: messageOf(error) },
          'failed to read the devices that members may see; not streaming changes to them',
        ),
    });

    const fleet = services.maybe(EdgeFleet);
    const deviceOfEdge = (id: number): number | null | undefined =>
      fleet.available ? fleet.get().get(id)?.device_id : undefined;
    toldOf.forEach(({ type, kinds, about }) =>
      ctx.events.on(type, (event) => changes.tell(kinds, about?.(event as never, deviceOfEdge))),
    );
    ctx.http.routes([
      ...pageRoutes(
        assets,
        () => ({
          setup: waiting() !== undefined,
          registration: setup.available && setup.get().registration,
        }),
        languages,
      ),
      ...liveRoutes(changes, catalogue, { pages, cards, languages }),
    ]);
    extend.contribute(Banner, 'console', {
      // Behind the sign "#": a browser keeps it to itself, so it comes into no log and no history of a proxy.
      line: (url) =>
        waiting() === undefined ? `Open     ${url}/` : `Set up   ${url}/#setup=${waiting()!}`,
    });

    // By their states, which no event tells of: one that is quarantined or blocked publishes nothing.
    const plugins = services.use(Plugins);
    const states = (): string =>
      plugins
        .list()
        .reduce((all, { id, state, generation }) => `${all}${id} ${state} ${generation}\n`, '');
    let known = '';
    scope.interval('notice plugins that came or went', lookEveryMs, () => {
      if (changes.isFollowed && known !== (known = states())) {
        changes.tell(['plugins']);
      }
    });
  },
});
