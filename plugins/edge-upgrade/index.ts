import { resolve } from 'node:path';

import { BuildInfo, definePlugin, messageOf, type Scope } from 'svc/sdk';

import { EdgeMethods, Uplink } from '../edge-uplink/contract.ts';
import { openJob } from './job.ts';
import { releaseKey } from './signature.ts';
import { Staging } from './staging.ts';
import { openTrials } from './trial.ts';
import { Upgrade } from './upgrade.ts';

const beatMs = 500;
const retellMs = 60_000;
const tidyMs = 10 * 60_000;
/** How long the end of a job is told again. */
const rememberedMs = 15 * 60_000;
const shownMs = 24 * 3_600_000;

export default definePlugin({
  activate(ctx) {
    const dataDir = resolve(ctx.dataDir, '../..');
    const uplink = ctx.services.use(Uplink);
    const build = ctx.services.use(BuildInfo);
    const running = ctx.settings.get<string>('upgrade.running');
    const launcher = ctx.settings.get<number>('upgrade.launcher');
    const healthyMs = ctx.settings.get<number>('upgrade.healthy_seconds') * 1_000;
    const jobs = openJob(ctx.dataDir, ctx.log);
    let due = true;
    const upgrade = new Upgrade({
      ...{ jobs, clock: ctx.clock, log: ctx.log, version: build.version, running },
      staging: new Staging(dataDir, ctx.processes.run, releaseKey(ctx.settings.get<string>('upgrade.release_key'))),
      trials: openTrials(dataDir),
      fetchTries: ctx.settings.get<number>('upgrade.fetch_tries'),
      trialSeconds: ctx.settings.get<number>('upgrade.trial_seconds'),
      obstacle() {
        // Whoever was started by something else is brought back by nobody, or by something that knows only the old version.
        return launcher !== 0 && process.ppid === launcher
          ? undefined
          : 'this agent runs from source, or was not started by its launcher: install the new version there and start it again';
      },
      identity: () => uplink.identity(),
      streams: () => uplink.streams,
      tell: (state) => uplink.tell('upgrade_state', state),
      pause: (ms) => pauseIn(ctx.scope, ms),
      wake: () => void (due = true),
    });
    ctx.extend.contribute(EdgeMethods, 'upgrade', { name: 'upgrade', mutating: true, run: (params) => upgrade.take(params) });
    ctx.health.check('upgrade', () => {
      const job = jobs.current();
      const recent = job && ctx.clock.now() - (job.endedAt ?? ctx.clock.now()) < shownMs;
      return recent ? { ok: job.error === undefined, detail: `${job.state}${job.error === undefined ? '' : `: ${job.error}`}` } : { ok: true };
    });

    return {
      /** Nothing here waits for the work: a download may take minutes. */
      start(): void {
        let upSince: number | undefined;
        let toldAt = 0;
        let working = false;
        const work = async (signal: AbortSignal): Promise<void> => {
          try {
            await upgrade.advance(signal);
          } catch (error) {
            ctx.log.error({ cause: messageOf(error) }, 'the upgrade cannot be kept on this disk; it is tried again when the agent starts');
          } finally {
            working = false;
          }
        };
        ctx.scope.interval('forget half a package', tidyMs, () => upgrade.tidy());
        ctx.scope.interval('look after the upgrade', beatMs, async () => {
          const now = ctx.clock.monotonic();
          if (due && !working) {
            due = false;
            working = true;
            ctx.scope.task('upgrade', work);
          }
          if (!uplink.online) {
            upSince = undefined;
            return;
          }
          if (upSince === undefined || now - toldAt > retellMs) {
            toldAt = now;
            await upgrade.retell(rememberedMs);
          }
          upSince ??= now;
          if (now - upSince >= healthyMs && upgrade.onTrial) {
            await upgrade.pass();
          }
        });
      },
    };
  },

  start: (_ctx, made) => made.start(),
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
