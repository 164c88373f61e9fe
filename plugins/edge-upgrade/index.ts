import { resolve } from 'node:path';

import { EdgeMethods, Uplink } from 'svc/contracts/edge-uplink';
import { Programs } from 'svc/contracts/programs';
import { BuildInfo, definePlugin, type Scope } from 'svc/sdk';

import { errors } from './errors.ts';
import { JobFile } from './job-file.ts';
import { releaseKey } from './signature.ts';
import { Staging } from './staging.ts';
import { TrialFiles } from './trial-files.ts';
import { Upgrade } from './upgrade.ts';
import { UpgradeLoop } from './upgrade-loop.ts';

const shownMs = 24 * 3_600_000;

export default definePlugin({
  errors,
  activate(ctx) {
    const { clock, log, scope, settings } = ctx;
    const dataDir = resolve(ctx.dataDir, '../..');
    const uplink = ctx.services.use(Uplink);
    const build = ctx.services.use(BuildInfo);
    const programs = ctx.services.maybe(Programs);
    const launcher = settings.get<number>('upgrade.launcher');
    const jobs = new JobFile(ctx.dataDir, log);
    const upgrade = new Upgrade({
      jobs,
      clock,
      log,
      version: build.version,
      running: settings.get<string>('upgrade.running'),
      staging: new Staging(
        dataDir,
        (...program) => programs.get().run(ctx, ...program),
        releaseKey(settings.get<string>('upgrade.release_key')),
      ),
      trials: new TrialFiles(dataDir),
      fetchTries: settings.get<number>('upgrade.fetch_tries'),
      trialSeconds: settings.get<number>('upgrade.trial_seconds'),
      obstacle() {
        // An agent that was started another way is not brought back, or only in its old version.
        return launcher !== 0 && process.ppid === launcher
          ? undefined
          : 'this agent runs from source, or was not started by its launcher: install the new version there and start it again';
      },
      identity: () => uplink.identity(),
      streams: () => uplink.streams,
      report: (state) => uplink.report('upgrade_state', state),
      pause: (ms) => pauseIn(scope, ms),
      wake: () => loop.wake(),
    });
    const healthyMs = settings.get<number>('upgrade.healthy_seconds') * 1_000;
    const loop: UpgradeLoop = new UpgradeLoop({
      upgrade,
      online: () => uplink.online,
      healthyMs,
      scope,
      clock,
      log,
    });
    ctx.extend.contribute(EdgeMethods, 'upgrade', {
      name: 'upgrade',
      mutating: true,
      run: (params) => upgrade.take(params),
    });
    ctx.health.check('upgrade', () => {
      const job = jobs.current();
      const recent = job && clock.now() - (job.endedAt ?? clock.now()) < shownMs;
      return recent
        ? {
            ok: job.error === undefined,
            detail: `${job.state}${job.error === undefined ? '' : `: ${job.error}`}`,
          }
        : { ok: true };
    });
    return loop;
  },

  start: (_ctx, loop) => loop.schedule(),
});

/** Ends early when the plugin does. */
const pauseIn = (scope: Scope, ms: number): Promise<void> =>
  new Promise((resolve) => {
    const wake = (): void => {
      scope.signal.removeEventListener('abort', wake);
      resolve();
    };
    scope.signal.addEventListener('abort', wake, { once: true });
    scope.timeout('pause of the upgrade', ms, wake);
  });
