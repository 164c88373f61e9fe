import type { Random } from 'svc/seeded';

import type { SpanCount } from './metrics/span-metrics.ts';
import { dnsNameOf, type Scene, versionAt } from './world/scene.ts';
import type { Call, Component } from './world/world.ts';

const mostTraces = 1_200;
const mostSpans = 60;
const perExport = 250;

interface Span {
  readonly service: number;
  readonly body: object;
}

export interface Traced {
  /** OTLP exports. */
  readonly exports: readonly object[];
  readonly counts: readonly SpanCount[];
}

/** Sampled traces over the whole history. */
export function traced(scene: Scene): Traced {
  const { world, course, random, end, lives } = scene;
  const { sampling } = world.vocabulary;
  const counts = new Map<string, SpanCount>();
  if (sampling === 0) {
    return { exports: [], counts: [] };
  }
  const rate = world.entries.reduce((sum, id) => sum + lives.components[id]!.rate[0]!, 0);
  const wanted = Math.min(
    mostTraces,
    Math.floor((rate * sampling * course.steps * course.stepMs) / 1_000),
  );
  const exports: object[] = [];
  let spans: Span[] = [];
  const flush = (): void => {
    if (spans.length > 0) {
      exports.push(exportOf(scene, spans));
      spans = [];
    }
  };
  for (let at = 0; at < wanted; at += 1) {
    const step = Math.min(course.steps - 1, Math.floor((course.steps * at) / wanted + random()));
    const entry = world.entries[Math.floor(random() * world.entries.length)]!;
    const start = end - (course.steps - step) * course.stepMs + random() * course.stepMs;
    new Request(scene, step, spans, counts).serve(entry, undefined, start, false);
    if (spans.length >= perExport) {
      flush();
    }
  }
  flush();
  return { exports, counts: [...counts.values()] };
}

type Counts = Map<string, SpanCount>;

/** One request on its way through a world, which leaves spans. */
class Request {
  readonly #scene: Scene;
  readonly #step: number;
  readonly #spans: Span[];
  readonly #counts: Counts;
  readonly #traceId: string;
  readonly #begun: number;

  constructor(scene: Scene, step: number, spans: Span[], counts: Counts) {
    this.#scene = scene;
    this.#step = step;
    this.#spans = spans;
    this.#counts = counts;
    this.#traceId = hex(scene.random, 32);
    this.#begun = spans.length;
  }

  /** Serves it at a component; returns the milliseconds. */
  serve(id: number, parent: string | undefined, from: number, isFailed: boolean): number {
    const { world, lives, random } = this.#scene;
    const component = world.components[id]!;
    const life = lives.components[id]!;
    const spanId = hex(random, 16);
    const place = this.#spans.push({ service: id, body: {} }) - 1;
    let ms = life.self[this.#step]! * 1_000 * jitter(random);
    let failed = isFailed || random() < life.own[this.#step]!;
    const message = failed ? ownMessage(this.#scene, component, this.#step) : undefined;
    world.calls.forEach((call, at) => {
      const isMade = call.from === id && !call.isAsync && random() < call.perRequest;
      if (isMade && this.#spans.length - this.#begun < mostSpans) {
        const made = this.#call(call, at, spanId, from + ms);
        ms += made.ms;
        failed ||= made.failed && random() < call.matters;
      }
    });
    const attributes = { 'http.request.method': 'GET', 'http.route': `/${component.name}` };
    this.#put(place, id, {
      spanId,
      parent,
      kind: 2,
      name: `GET /${component.name}`,
      from,
      ms,
      failed,
      message,
      attributes,
    });
    return ms;
  }

  #call(
    call: Call,
    at: number,
    parent: string,
    from: number,
  ): { readonly ms: number; readonly failed: boolean } {
    const { world, lives, random } = this.#scene;
    const other = world.components[call.to]!;
    const made = lives.calls[at]!;
    const spanId = hex(random, 16);
    const place = this.#spans.push({ service: call.from, body: {} }) - 1;
    const failed = random() < made.errors[this.#step]!;
    const isReached =
      lives.components[other.id]!.up[this.#step]! > 0 && !isExpired(this.#scene, other, this.#step);
    let ms = Math.min(call.timeout * 1_000, made.mean[this.#step]! * 1_000 * jitter(random));
    if (other.role === 'service' && isReached) {
      const served = this.serve(other.id, spanId, from + 0.2, failed && random() < 0.8);
      ms = Math.min(call.timeout * 1_000, 0.4 + served);
    }
    this.#put(place, call.from, {
      spanId,
      parent,
      kind: 3,
      name: other.role === 'store' ? `SELECT ${other.name}` : `GET ${other.name}`,
      from,
      ms,
      failed,
      message: failed && !isReached ? 'connection refused' : undefined,
      attributes: calledAttributes(this.#scene, other),
    });
    return { ms, failed };
  }

  #put(place: number, id: number, parts: Omit<SpanParts, 'traceId'>): void {
    this.#spans[place] = { service: id, body: spanBody({ ...parts, traceId: this.#traceId }) };
    const key = `${id} ${parts.kind} ${parts.failed} ${parts.name}`;
    const { world, course } = this.#scene;
    const known = this.#counts.get(key) ?? {
      service: world.components[id]!.name,
      name: parts.name,
      kind: parts.kind === 2 ? ('SERVER' as const) : ('CLIENT' as const),
      failed: parts.failed,
      seconds: Array.from({ length: course.steps }, (): number[] => []),
    };
    this.#counts.set(key, known);
    known.seconds[this.#step]!.push(parts.ms / 1_000);
  }
}

const calledAttributes = ({ world }: Scene, other: Component): Readonly<Record<string, string>> =>
  other.role === 'store'
    ? {
        'db.system': other.engine!,
        'server.address': dnsNameOf(world, other),
        'peer.service': other.name,
      }
    : { 'server.address': dnsNameOf(world, other), 'http.request.method': 'GET' };

const isExpired = ({ course }: Scene, { id }: Component, step: number): boolean =>
  course.faults.some(({ fault, onset }) => fault.certificate === id && step >= onset);

function ownMessage({ course }: Scene, { id }: Component, step: number): string {
  const hit = course.faults.flatMap(({ fault, onset }) =>
    step >= onset ? fault.logs.filter(({ component }) => component === id) : [],
  )[0];
  return hit?.error ?? 'internal error';
}

interface SpanParts {
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | undefined;
  readonly kind: number;
  readonly name: string;
  readonly from: number;
  readonly ms: number;
  readonly failed: boolean;
  readonly message: string | undefined;
  readonly attributes: Readonly<Record<string, string>>;
}

const spanBody = ({
  traceId,
  spanId,
  parent,
  kind,
  name,
  from,
  ms,
  failed,
  message,
  attributes,
}: SpanParts): object => ({
  traceId,
  spanId,
  ...(parent && { parentSpanId: parent }),
  kind,
  name,
  startTimeUnixNano: nanos(from),
  endTimeUnixNano: nanos(from + ms),
  attributes: keyValues({
    ...attributes,
    ...(kind === 2 && { 'http.response.status_code': failed ? '500' : '200' }),
  }),
  status: failed ? { code: 2, ...(message && { message }) } : {},
});

function exportOf(scene: Scene, spans: readonly Span[]): object {
  const { world } = scene;
  const services = [...new Set(spans.map(({ service }) => service))];
  return {
    resourceSpans: services.map((id) => {
      const component = world.components[id]!;
      const instance = component.instances[0];
      const resource = {
        'service.name': component.name,
        'service.version': versionAt(scene, component)(scene.course.steps - 1),
        ...(instance && { 'host.name': world.machines[instance.host]!.name }),
        ...(instance &&
          world.vocabulary.platform === 'kubernetes' && { 'k8s.pod.name': instance.pod }),
      };
      return {
        resource: { attributes: keyValues(resource) },
        scopeSpans: [
          { spans: spans.filter(({ service }) => service === id).map(({ body }) => body) },
        ],
      };
    }),
  };
}

const keyValues = (values: Readonly<Record<string, string>>): object[] =>
  Object.entries(values).map(([key, value]) => ({ key, value: { stringValue: value } }));
const nanos = (ms: number): string => String(BigInt(Math.round(ms * 1_000)) * 1_000n);
const jitter = (random: Random): number => 0.5 + random();
const hex = (random: Random, length: number): string =>
  Array.from({ length: length / 4 }, () =>
    Math.floor(random() * 65_536)
      .toString(16)
      .padStart(4, '0'),
  ).join('');
