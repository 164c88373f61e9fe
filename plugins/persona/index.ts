import { DeviceDirectory } from 'svc/contracts/device';
import { DropInFiles } from 'svc/contracts/drop-ins';
import { PackTraces } from 'svc/contracts/marketplace';
import { PersonaRestraints, Personas } from 'svc/contracts/persona';
import { Programs } from 'svc/contracts/programs';
import { Skills } from 'svc/contracts/skill';
import { TopologyGraph } from 'svc/contracts/topology';
import { markdownErrors } from 'svc/markdown-file';
import { DeviceScopes, seenBy } from 'svc/query';
import { Board, Catalogue, definePlugin } from 'svc/sdk';

import { Conditions } from './conditions.ts';
import { Directory } from './directory.ts';
import { errors } from './errors.ts';
import { OwnPersonas } from './own-personas.ts';
import { personaRoutes } from './persona-routes.ts';
import { NamedThings } from './routing/named.ts';
import type { PersonaTables } from './store.ts';
import { Versions } from './versions.ts';

export default definePlugin({
  errors: [errors, markdownErrors],
  async activate(ctx) {
    const { clock, log, scope, settings } = ctx;
    const tables = ctx.db<PersonaTables>();
    const catalogue = ctx.services.use(Catalogue);
    const own = new OwnPersonas(tables, clock);
    const versions = new Versions(
      tables,
      (save) => void scope.task('keep versions of personas', save),
    );
    const conditions = new Conditions(
      ctx.services.maybe(Programs),
      ctx.services.use(Board),
      ctx.services.maybe(Skills),
    );
    const directory = new Directory({
      published: () => catalogue.personas(),
      own,
      versions,
      conditions,
      named: new NamedThings({
        graph: ctx.services.maybe(TopologyGraph),
        devices: ctx.services.maybe(DeviceDirectory),
        seenBy: seenBy(ctx.services.maybe(DeviceScopes)),
      }),
      settings,
      clock,
      log,
      restraints: ctx.extend.open(PersonaRestraints),
    });

    await Promise.all([own.load(), versions.load()]);
    ctx.services.provide(Personas, () => directory);
    ctx.extend.contribute(PackTraces, 'persona', {
      forget: ({ personas }) => directory.forget(personas),
    });
    ctx.http.routes(
      personaRoutes({ directory, own, files: ctx.services.maybe(DropInFiles), conditions }),
    );
  },
});
