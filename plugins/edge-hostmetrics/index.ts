import { statfs } from 'node:fs/promises';
import { machine as architecture } from 'node:os';

import { EdgeMethods, LocalPolicy, Shipping, Specs } from 'svc/contracts/edge-uplink';
import { type After, Delivery, MachineFiles, pageSizeOf } from 'svc/probe';
import { definePlugin, type HealthReport, type OutboundRequest, timestamp } from 'svc/sdk';

import { Canonical } from './canonical.ts';
import { Collection } from './collection.ts';
import { errors } from './errors.ts';
import { Filesystems } from './moment/filesystems.ts';
import { type Machine, Moment } from './moment/moment.ts';
import { NameFilter } from './moment/name-filter.ts';
import { CpuHistory } from './proc/stat.ts';
import { Scraper } from './scrape/scraper.ts';
import { milliseconds } from './scrape/target-spec.ts';
import type { HostSpec } from './spec.ts';

/** The first two measurements follow each other soon: rates need both, and people look at a new machine at once. */
const secondMs = 3_000;

export default definePlugin({
  errors,
  activate(ctx) {
    const spec = ctx.services.use(Specs).of(ctx.id) as HostSpec;
    const policy = ctx.services.use(LocalPolicy);
    const files = new MachineFiles();
    const after: After = (ms, work) => ctx.scope.timeout('deadline of a file system', ms, work);
    const machine: Machine = {
      files,
      filesystems: new Filesystems({
        files,
        statfs: (path) => statfs(path),
        after,
        deadlineMs: milliseconds(spec.filesystem.timeout),
        mountExclude: new NameFilter(spec.filesystem.mount_exclude, 'filesystem.mount_exclude'),
        typeExclude: new NameFilter(spec.filesystem.fstype_exclude, 'filesystem.fstype_exclude'),
        onStuck: (mountpoint, stuck) =>
          ctx.log.warn(
            { event: 'hostmetrics.mount_turned', mountpoint },
            stuck
              ? 'file system is not responding; its metrics are missing'
              : 'file system is responding again',
          ),
      }),
      cpuHistory: new CpuHistory(),
      diskExclude: new NameFilter(spec.disk.device_exclude, 'disk.device_exclude'),
      networkExclude: new NameFilter(spec.network.device_exclude, 'network.device_exclude'),
      pageSize: pageSizeOf(files),
      architecture: architecture(),
    };
    const canonical = new Canonical();
    const now = (): Moment => new Moment(machine, ctx.clock.now(), ctx.clock.monotonic());
    ctx.extend.contribute(EdgeMethods, 'host-snapshot', {
      name: 'host_snapshot',
      mutating: false,
      run: async () => ({
        sampled_at: timestamp(ctx.clock.now()),
        metrics: await canonical.snapshot(now()),
      }),
    });
    const collection = new Collection(spec, canonical, ctx.log);
    const delivery = new Delivery(ctx.services.use(Shipping), ctx.id, ctx.log);
    const ports = {
      fetch: (url: string, request: OutboundRequest) => ctx.fetch(url, request),
      clock: ctx.clock,
      allowed: () => policy.current().tcp,
    };
    const scrapers = spec.targets.map((target) => new Scraper(target, ports, ctx.log));
    ctx.health.check('targets', () => targetsReport(scrapers));
    return {
      spec,
      measure: async () => delivery.send(await collection.take(now())),
      targets: spec.targets.map((target, index) => {
        const scraper = scrapers[index]!;
        return {
          ...target,
          scrape: async (signal: AbortSignal) => delivery.send(await scraper.scrape(signal)),
        };
      }),
    };
  },
  start(ctx, { spec, measure, targets }) {
    ctx.scope.timeout('first measurement', 0, measure);
    ctx.scope.timeout('second measurement', secondMs, measure);
    ctx.scope.interval('measure', milliseconds(spec.interval), measure);
    for (const { job, interval, scrape } of targets) {
      ctx.scope.timeout(`first scrape of ${job}`, 0, scrape);
      ctx.scope.interval(`scrape ${job}`, milliseconds(interval), scrape);
    }
  },
});

/** A target that does not answer shows as `up` 0; what is wrong, and a refusal by the policy, is told here. */
function targetsReport(scrapers: readonly Scraper[]): HealthReport {
  const troubles = scrapers.flatMap(({ trouble }) => trouble ?? []);
  return troubles.length === 0
    ? { ok: true }
    : { ok: true, degraded: true, detail: troubles.slice(0, 5).join('; ') };
}
