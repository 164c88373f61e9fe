import { arch } from 'node:os';
import { resolve } from 'node:path';

import { Examinations } from 'svc/contracts/doctor';
import { EdgeFleet, FleetSkills } from 'svc/contracts/edge';
import { Mentions } from 'svc/contracts/mention';
import type { Credentials } from 'svc/contracts/session';
import { type Build, definePlugin } from 'svc/sdk';
import { tunnelErrors } from 'svc/tunnel';

import { openBase } from './base.ts';
import { errors as connectionErrors } from './connection/errors.ts';
import { BufferReports, ClockReports, PolicyReports } from './connection/event-intake.ts';
import { edgeRoutes, identityRoutes, liveRoutes } from './edge-routes.ts';
import { enrolmentRoutes } from './enrolment/enrolment-routes.ts';
import { Enrolments } from './enrolment/enrolments.ts';
import { errors as enrolmentErrors } from './enrolment/errors.ts';
import { installRoutes } from './enrolment/install-routes.ts';
import { LocalEdge } from './enrolment/local-edge.ts';
import { errors } from './errors.ts';
import { edgeExamination } from './examination.ts';
import { Fleet } from './fleet.ts';
import { Housekeeping } from './housekeeping.ts';
import { Edges } from './identity/edges.ts';
import { errors as identityErrors } from './identity/errors.ts';
import { LiveAnswers } from './live-answers.ts';
import { edgeMention } from './mention.ts';
import { acceptRoute, openConnection } from './open-connection.ts';
import { openPlugins } from './open-plugins.ts';
import { errors as pluginsErrors } from './plugins/errors.ts';
import { errors as recordErrors } from './record/errors.ts';
import { OwnClock } from './record/own-clock.ts';
import { SelfMetrics } from './self-metrics.ts';
import { RemoteSkills } from './skills.ts';
import { errors as upgradeErrors } from './upgrade/errors.ts';
import { type OwnPackage, Packages } from './upgrade/packages.ts';
import { upgradeRoutes } from './upgrade/upgrade-routes.ts';
import { Upgrades } from './upgrade/upgrades.ts';

/** Extension point referenced by id, as the session plugin may be unloaded. */
const credentials: typeof Credentials = { kind: 'extension-point', id: 'session.credentials' };

/** The single binary is the agent of its own architecture. */
const ownPackage = ({ agent, version }: Build): OwnPackage | undefined =>
  agent.length === 1
    ? { file: `svc-${version.replace(/^v/, '')}-${arch()}`, path: agent[0]! }
    : undefined;

export default definePlugin({
  errors: [
    errors,
    connectionErrors,
    enrolmentErrors,
    identityErrors,
    pluginsErrors,
    recordErrors,
    upgradeErrors,
    ...tunnelErrors,
  ],
  async activate(ctx) {
    const base = openBase(ctx);
    const connection = openConnection(base, ctx);
    const plugins = openPlugins(base, connection.presence, ctx);
    const fleet = new Fleet(base.edgeTable, connection.presence);
    const packages = new Packages(
      resolve(ctx.dataDir, '../../agent-packages'),
      ownPackage(base.build),
    );
    const upgrades = new Upgrades({ ...base, fleet, packages });
    const edges = new Edges({ ...base, ...connection });
    const enrolments = new Enrolments({ ...base, ...connection, edges });
    const receivers = {
      plugin_health: plugins.health,
      host_info: connection.introductions,
      upgrade_state: upgrades,
      policy: new PolicyReports(),
      buffer: new BufferReports(),
      clock: new ClockReports(base.clock),
    };

    await base.edgeTable.load();
    ctx.services.provide(EdgeFleet, () => fleet);
    ctx.services.provide(FleetSkills, () => new RemoteSkills({ ...base, fleet }));
    ctx.extend.contribute(credentials, 'edge-key', connection.keyring);
    ctx.extend.contribute(Mentions, 'edge', edgeMention(fleet, base.scopes));
    ctx.extend.contribute(
      Examinations,
      'edges',
      edgeExamination(base.edgeTable, connection.presence.comings),
    );
    ctx.http.routes([
      ...enrolmentRoutes(enrolments),
      ...installRoutes({
        enrolments,
        packages,
        build: base.build,
        pin: () => ctx.settings.get<string>('edge.pin'),
      }),
      ...edgeRoutes(edges),
      ...identityRoutes(connection.edgeSecrets, connection.conflicts),
      ...liveRoutes(new LiveAnswers({ ...base, fleet })),
      ...plugins.routes,
      ...upgradeRoutes(upgrades, packages),
      acceptRoute(base, connection, receivers, (record) => plugins.desired.settle(record)),
    ]);
    new LocalEdge(ctx, { ...base, ...connection, edges }).schedule();
    new Housekeeping(ctx, {
      base,
      connection,
      plugins,
      enrolments,
      upgrades,
      metrics: new SelfMetrics(ctx.metrics, { ...base, ...connection }),
      ownClock: new OwnClock(base.clock, base.edgeTable),
    }).schedule();
  },
});
