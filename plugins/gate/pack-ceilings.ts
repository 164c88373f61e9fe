import { type OpenPoint, SvcError } from 'svc/sdk';

import type { Ceiling, CeilingSource, GateQuestion } from './contract.ts';

const deepest = 32;
/** The tool by which an agent asks another one. */
const handsOn = 'agent_ask';

/** Holds a call against the ceilings of the packs that it is under. */
export class PackCeilings {
  readonly #sources: Pick<OpenPoint<CeilingSource>, 'list'>;

  constructor(sources: Pick<OpenPoint<CeilingSource>, 'list'>) {
    this.#sources = sources;
  }

  /** Why the call is refused, or undefined. */
  refusal(question: GateQuestion): string | undefined {
    const call = { persona: question.persona?.name, source: question.tool.source };
    for (const { value } of this.#sources.list()) {
      for (const { pack, ceiling } of value.ceilings(call)) {
        const cause = beyond(ceiling, question);
        if (cause !== undefined) {
          return `${cause}, beyond the ceiling of the pack ${pack}; an administrator can raise it`;
        }
      }
    }
    return undefined;
  }
}

function beyond({ classes, tools, hosts, labels }: Ceiling, { tool, args, target }: GateQuestion): string | undefined {
  if (!classes.includes(tool.class)) {
    return `${tool.key} is ${tool.class}`;
  }
  if (tools.length > 0 && !tools.includes(tool.key)) {
    return `${tool.key} is not among the tools`;
  }
  if (tool.key === handsOn && tools.length + hosts.length + labels.length > 0) {
    return `${tool.key} hands on to an agent that is not held to these limits`;
  }
  if (labels.length > 0 && target !== undefined && !labels.some((label) => carries(target.labels, label))) {
    return `device ${target.device_id} carries none of the labels ${labels.join(', ')}`;
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
    throw new SvcError('invalid_argument', `the arguments are nested more than ${deepest} levels deep; make them flatter`, { reason: 'gate.arguments_deep' });
  }
  if (typeof value === 'object' && value !== null) {
    return Object.values(value)
      .map((inner) => strangeHost(inner, hosts, depth + 1))
      .find((found) => found !== undefined);
  }
  if (typeof value !== 'string') {
    return undefined;
  }
  const named = [...value.matchAll(/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>]{1,500}/gi)].flatMap(([url]) =>
    URL.canParse(url) ? [new URL(url).hostname.toLowerCase()] : [url.slice(0, 60)],
  );
  return named.find((host) => !hosts.some((one) => host === one || host.endsWith(`.${one}`)));
}
