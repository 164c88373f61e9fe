import { Directory, Passwords, PersonChanged, Restoring, RoleChanged } from 'svc/contracts/iam';
import { PackTraces } from 'svc/contracts/marketplace';
import { AuditTrail, Catalogue, definePlugin } from 'svc/sdk';

import { Credentials } from './accounts/credentials.ts';
import { createDirectory } from './accounts/directory.ts';
import { createExplain } from './accounts/explain.ts';
import { ensureFirstAdmin } from './accounts/first-admin.ts';
import { Members } from './accounts/members.ts';
import { Orgs } from './accounts/orgs.ts';
import { Roles } from './accounts/roles.ts';
import { Users } from './accounts/users.ts';
import { errors } from './errors.ts';
import { meRoutes } from './me.ts';
import { memberRoutes, orgRoutes } from './org-routes.ts';
import { Hasher } from './passwords/hasher.ts';
import { policyRoutes, roleRoutes } from './policy-routes.ts';
import { People } from './policy/people.ts';
import { Policy, type Seeds } from './policy/policy.ts';
import { PeopleStore } from './store/people-store.ts';
import { RoleStore } from './store/role-store.ts';
import type { IamTables } from './store/tables.ts';
import { userRoutes } from './user-routes.ts';

export default definePlugin({
  errors,
  async activate(ctx) {
    const { clock, settings, log } = ctx;
    const tables = ctx.db<IamTables>();
    const catalogue = ctx.services.use(Catalogue);
    const hasher = new Hasher(ctx.ids);

    const policy = new Policy(settings.get<Seeds>('policy.roles'), () =>
      new RoleStore(tables.read).all(),
    );
    settings.watch<Seeds>('policy.roles', (seeds) => policy.seed(seeds));
    const people = new People({
      policy,
      read: (ids) => new PeopleStore(tables.read).accounts(ids),
      changed: (id) => ctx.events.emit(PersonChanged, { id }),
    });

    const users = new Users({ tables, people, hasher, clock });
    const credentials = new Credentials({ tables, people, hasher, log });
    const directory = createDirectory({ tables, people, policy, users, credentials, clock });
    const roles = new Roles({
      tables,
      policy,
      catalogue,
      clock,
      changed: (name) => ctx.events.emit(RoleChanged, { name }),
    });

    ctx.services.provide(Directory, () => directory);
    ctx.services.provide(Passwords, () => credentials);
    ctx.services.provide(Restoring, () => ({
      find: (email) => credentials.find(email),
      replace: (person, password, along, note) =>
        users.replacePassword(person, password, along, note),
    }));
    ctx.extend.contribute(PackTraces, 'iam', {
      forget: async ({ packId, keepData }) => void (keepData || (await roles.forgetArea(packId))),
    });
    ctx.http.routes([...meRoutes(tables), ...userRoutes(users)]);
    ctx.http.routes(orgRoutes(new Orgs({ tables, people, clock })));
    ctx.http.routes(memberRoutes(new Members({ tables, people, policy })));
    ctx.http.routes(roleRoutes(policy, roles));
    ctx.http.routes(policyRoutes(catalogue, createExplain({ people, policy, catalogue })));

    // The previous generation is finishing its work, and what it commits must be known here too.
    ctx.events.on(PersonChanged, ({ id }) => people.refresh([id]));
    ctx.events.on(RoleChanged, () => policy.refresh());

    const recall = async (): Promise<void> => {
      await policy.refresh();
      await people.load();
    };
    await recall();
    const named = {
      directory,
      tables,
      trail: ctx.services.maybe(AuditTrail),
      settings,
      clock,
      ids: ctx.ids,
      log,
    };
    return { recall, makeFirstAdmin: () => ensureFirstAdmin(named) };
  },
  async start(_ctx, { recall, makeFirstAdmin }) {
    // Again, for what was committed between reading and serving.
    await recall();
    await makeFirstAdmin();
  },
});
