import { pick, type Random } from 'svc/seeded';
import type { Change, CheckResult, LogTemplate, SpanAggregate } from 'svc/rca';

import type { EvidenceList } from '../case.ts';
import type { Course, ServiceSignals, Signals } from './signals.ts';
import { between, whole, type World } from './world.ts';

/** The part of a course that is fetched, in steps. */
export interface Cut {
  readonly first: number;
  readonly last: number;
  readonly origin: number;
}

interface Simulation {
  readonly random: Random;
  readonly world: World;
  readonly signals: Signals;
  readonly course: Course;
  readonly cut: Cut;
  readonly evidence: EvidenceList;
  /** Services that the fault reaches; decoys stay away from them. */
  readonly touched: ReadonlySet<number>;
}

const timeOf = ({ origin }: Cut, { stepMs }: Course, step: number): number =>
  origin + step * stepMs;
const known = (value: number | null | undefined): number => value ?? 0;

/** Lines of each service: chatter that follows its load, complaints that follow its errors, and what the fault itself says. */
export function logsOf({
  random,
  world,
  signals,
  course,
  cut,
  evidence,
  touched,
}: Simulation): LogTemplate[] {
  const { fault } = course;
  return world.services.flatMap(({ id, calls }, at) => {
    const source = evidence.add('log', 'logs', `{service="${id}"}`, 'untrusted');
    const own = signals.services[at]!;
    const line = (
      name: string,
      template: string,
      severity: LogTemplate['severity'],
      count: (step: number) => number,
    ): LogTemplate => ({
      id: `${source}.${name}`,
      evidence: source,
      node: id,
      template,
      severity,
      from: timeOf(cut, course, cut.first),
      bucket_ms: course.stepMs,
      counts: Array.from({ length: cut.last - cut.first + 1 }, (_, index) =>
        Math.max(0, Math.round(count(cut.first + index))),
      ),
      samples: [],
    });
    const lines = [
      line(
        '1',
        'handled request <*> in <num> ms',
        'info',
        (step) => known(own.rate[step]) * between(random, 0.8, 1.2),
      ),
      line(
        '2',
        'request <*> failed with status <num>',
        'error',
        (step) => known(own.rate[step]) * known(own.errors[step]) * 6 * random(),
      ),
    ];
    const speaks =
      fault.log &&
      (fault.log.of === 'target'
        ? touchedBy(world, course, at)
        : calls.some(({ to }) => fault.on === 'service' && to === fault.target));
    if (fault.log && speaks) {
      lines.push(
        line('3', fault.log.template, fault.log.severity, (step) =>
          step >= course.onset + 1 ? between(random, 3, 40) : 0,
        ),
      );
    }
    if (!touched.has(at) && random() < 0.1) {
      const begins = course.onset - whole(random, -2, 20);
      const severity = random() < 0.3 ? ('error' as const) : ('info' as const);
      lines.push(
        line('4', 'cache <*> refreshed in <num> ms', severity, (step) =>
          step >= begins ? between(random, 0, 6) : 0,
        ),
      );
    }
    return lines;
  });
}

const touchedBy = ({ services }: World, { fault }: Course, at: number): boolean =>
  fault.on === 'service'
    ? fault.target === at
    : fault.on === 'host' && services[at]!.host === fault.target;

export function spansOf({ world, signals, course, cut, evidence }: Simulation): SpanAggregate[] {
  const steps = Array.from({ length: cut.last - cut.first + 1 }, (_, index) => cut.first + index);
  const entries = world.services.flatMap(({ layer }, at) =>
    layer === 0 ? [signals.services[at]!] : [],
  );
  const failing = steps.map((step) =>
    Math.round(
      entries.reduce((sum, entry) => sum + spansAt(entry, step) * known(entry.errors[step]), 0),
    ),
  );
  return world.services.map(({ id }, at) => {
    const own = signals.services[at]!;
    const origins = steps.map((step) => Math.round(spansAt(own, step) * known(own.own[step])));
    return {
      evidence: evidence.add('trace', 'traces', `{ resource.service.name = "${id}" }`, 'untrusted'),
      node: id,
      operation: 'handle',
      from: timeOf(cut, course, cut.first),
      bucket_ms: course.stepMs,
      spans: steps.map((step) => Math.round(spansAt(own, step))),
      errors: steps.map((step) => Math.round(spansAt(own, step) * known(own.errors[step]))),
      origins,
      failing_here: origins.map((count, index) =>
        Math.min(failing[index]!, Math.round(count * 0.8)),
      ),
      failing,
      self_ms: steps.map((step) =>
        own.self[step] === null ? null : known(own.self[step]) * 1_000,
      ),
    };
  });
}

const spansAt = ({ rate }: ServiceSignals, step: number): number => known(rate[step]) * 6;

/** The change that did it, if one did, among those that did not. */
export function changesOf({ random, world, course, cut, evidence, touched }: Simulation): Change[] {
  const { fault } = course;
  const source = evidence.add('change', 'changes', 'changes');
  const nodes = [
    ...world.services.map(({ id }, at) => ({ id, free: !touched.has(at) })),
    ...world.hosts.map(({ id }) => ({ id, free: true })),
  ];
  const target =
    fault.on === 'host' ? world.hosts[fault.target]?.id : world.services[fault.target]?.id;
  const innocent = Array.from({ length: whole(random, 1, 5) }, (): Change => {
    const kind = pick(random, ['deploy', 'config', 'package', 'restart', 'cron', 'rule'] as const);
    const node = pick(
      random,
      nodes.filter(({ id, free }) => free && id !== target),
    ).id;
    const back =
      random() < 0.35 ? between(random, 1, 25) * 60_000 : between(random, 30, 360) * 60_000;
    return {
      id: '',
      evidence: source,
      at: timeOf(cut, course, course.onset) - Math.round(back),
      kind,
      node,
      title: `${kind} of ${node}`,
    };
  });
  const guilty: Change[] =
    fault.change && target !== undefined
      ? [
          {
            id: '',
            evidence: source,
            at: timeOf(cut, course, course.onset) - Math.round(between(random, 5, 200) * 1_000),
            kind: fault.change.kind,
            node: target,
            title: fault.change.title,
          },
        ]
      : [];
  return [...innocent, ...guilty]
    .sort((a, b) => a.at - b.at)
    .map((change, at) => ({ ...change, id: `${source}.${at + 1}` }));
}

/** Returns the hosts' answers to checks; some have long-standing complaints. */
export function checksOf({ random, world, course, evidence }: Simulation): CheckResult[] {
  const { fault } = course;
  return world.hosts.flatMap(({ id }, at) => {
    const source = evidence.add('check', 'checks', `checks of ${id}`);
    const result = (
      check: string,
      ok: boolean,
      interesting: boolean,
      details: CheckResult['details'],
      node = id,
    ): CheckResult => ({
      check,
      evidence: source,
      node,
      ok,
      interesting,
      message: `${check} of ${node}`,
      details,
    });
    const results = [
      result('disk_full', true, false, { used_percent: 60 }),
      result('clock_skew', true, false, { offset_seconds: 0.01 }),
    ];
    if (random() < 0.15) {
      results.push(result('cert_expiry', false, false, { days_left: 12 }));
    }
    if (random() < 0.06) {
      results.push(result('swap', false, true, { pages_per_second: 120 }));
    }
    const here =
      fault.on === 'host' ? fault.target === at : world.services[fault.target]?.host === at;
    if (fault.check && here) {
      results.push(
        result(
          fault.check.name,
          false,
          true,
          fault.check.details,
          fault.on === 'host' ? id : world.services[fault.target]!.id,
        ),
      );
    }
    return results;
  });
}
