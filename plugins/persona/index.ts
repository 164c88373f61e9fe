import { PackTraces } from 'svc/pack-traces';
import { Board, Catalogue, definePlugin, defineService } from 'svc/sdk';

import type { ForeignPrograms } from '../programs/contract.ts';
import type { DropInFiles } from '../drop-ins/contract.ts';
import { Conditions, type KnownTools } from './conditions.ts';
import { PersonaRestraints, Personas } from './contract.ts';
import { Directory } from './directory.ts';
import { OwnPersonas } from './own-personas.ts';
import { personaRoutes } from './persona-routes.ts';
import type { PersonaTables } from './store.ts';
import { Versions } from './versions.ts';

/** By their ids: the folders of these may be taken away. */
const Programs = defineService<ForeignPrograms>('programs.runner');
const Tools = defineService<KnownTools>('skill.registry');
const Files = defineService<DropInFiles>('drop-ins.files');

export default definePlugin({
  async activate(ctx) {
    const { clock, scope, settings } = ctx;
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
      ctx.services.maybe(Tools),
    );
    const directory = new Directory({
      published: () => catalogue.personas(),
      own,
      versions,
      conditions,
      settings,
      clock,
      restraints: ctx.extend.open(PersonaRestraints),
    });

    await Promise.all([own.load(), versions.load()]);
    ctx.services.provide(Personas, () => directory);
    ctx.extend.contribute(PackTraces, 'persona', {
      forget: ({ personas }) => directory.forget(personas),
    });
    ctx.http.routes(
      personaRoutes({ directory, own, files: ctx.services.maybe(Files), conditions }),
    );
  },
});
