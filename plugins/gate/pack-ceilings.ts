import type { Ceiling, CeilingSource, GateQuestion } from 'svc/contracts/gate';
import type { OpenPoint } from 'svc/sdk';

import { errors } from './errors.ts';

const deepest = 32;
/** The tool by which an agent asks another one. */
const handsOn = 'agent_ask';

/** Holds calls of tools, and hosts that code asks, against the ceilings of the packs that they are under. */
export class PackCeilings {
  readonly #sources: Pick<OpenPoint<CeilingSource>, 'list'>;

  constructor(sources: Pick<OpenPoint<CeilingSource>, 'list'>) {
    this.#sources = sources;
  }

  /** Why the call is refused, or undefined. */
  refusal(question: GateQuestion): string | undefined {
    return this.#first(
      { persona: question.persona?.name, source: question.tool.source },
      (ceiling) => beyond(ceiling, question),
    );
  }

  /** Why code may not ask the host. Where nobody knows the ceilings of packs, as when svc starts, none may ask any. */
  hostRefusal(source: string, host: string): string | undefined {
    if (this.#sources.list().length === 0) {
      return `the limits of ${source} are unknown, because the plugin marketplace is not running; enable it`;
    }
    return this.#first({ persona: undefined, source }, ({ hosts }) =>
      hosts.length === 0 || isBelow(host, hosts)
        ? undefined
        : `the host ${host} is not among the hosts`,
    );
  }

  /** The first cause that the ceilings of a call give. */
  #first(
    call: Parameters<CeilingSource['ceilings']>[0],
    causeOf: (ceiling: Ceiling) => string | undefined,
  ): string | undefined {
    for (const { value } of this.#sources.list()) {
      for (const { pack, ceiling } of value.ceilings(call)) {
        const cause = causeOf(ceiling);
        if (cause !== undefined) {
          return `${cause}, beyond the ceiling of the pack ${pack}; an administrator can raise it`;
        }
      }
    }
    return undefined;
  }
}

const isBelow = (host: string, hosts: readonly string[]): boolean =>
  hosts.some((one) => host === one || host.endsWith(`.${one}`));

function beyond(
  { classes, tools, hosts, labels }: Ceiling,
  { tool, args, target }: GateQuestion,
): string | undefined {
  if (!classes.includes(tool.class)) {
    return `${tool.key} is ${tool.class}`;
  }
  if (tools.length > 0 && !tools.includes(tool.key)) {
    return `${tool.key} is not among the tools`;
  }
  if (tool.key === handsOn && tools.length + hosts.length + labels.length > 0) {
    return `${tool.key} hands on to an agent that is not held to these limits`;
  }
  if (
    labels.length > 0 &&
    target !== undefined &&
    !labels.some((label) => carries(target.labels, label))
  ) {
    return `device ${target.device_id} has none of the labels ${labels.join(', ')}`;
  }
  const host = hosts.length === 0 || args === undefined ? undefined : strangeHost(args, hosts, 0);
  return host === undefined ? undefined : `an argument of ${tool.key} names the host ${host}`;
}

function carries(labels: Readonly<Record<string, string>>, label: string): boolean {
  const equals = label.indexOf('=');
  return labels[label.slice(0, equals)] === label.slice(equals + 1);
}

/** The first host in an address among the arguments that is on no list. */
function strangeHost(value: unknown, hosts: readonly string[], depth: number): string | undefined {
  if (depth > deepest) {
    throw errors.arguments_deep({ max: deepest });
  }
  if (typeof value === 'object' && value !== null) {
    return Object.values(value)
      .map((inner) => strangeHost(inner, hosts, depth + 1))
      .find((found) => found !== undefined);
  }
  if (typeof value !== 'string') {
    return undefined;
  }
  const named = [...value.matchAll(/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>]{1,500}/gi)].flatMap(
    ([url]) => (URL.canParse(url) ? [new URL(url).hostname.toLowerCase()] : [url.slice(0, 60)]),
  );
  return named.find((host) => !isBelow(host, hosts));
}
