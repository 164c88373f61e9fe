import type { Stamp } from 'svc/contracts/metricsdb';
import { type Labels, labelsKey, withLabel } from 'svc/query';

import { detectedLevel, withServiceName } from '../../logql/discovery.ts';
import type { LogLimits } from '../head/limits.ts';
import { labelsText, unparsable } from './label-text.ts';

/** Effect of the labels that a sender gives a stream. */
export interface Origin {
  /** Labels, including those that the server adds. */
  readonly labels: Labels;
  /** Reason why none of it is kept. */
  readonly problem: string | undefined;
  /** Level of all lines that state none; `unknown` for most. */
  readonly level: string;
}

const maxKnown = 10_000;

/** Cache of what was determined about labels, since the same ones come with every push. */
export class Origins {
  readonly #known = new Map<string, Origin>();
  /** The same by the very set, of the one who sent it last. */
  #last = new WeakMap<
    Labels,
    {
      readonly origin: Origin;
      readonly device: string | undefined;
      readonly edge: string | undefined;
    }
  >();
  #limits: LogLimits | undefined;

  of(sent: Labels, stamp: Stamp | undefined, limits: LogLimits): Origin {
    const last = this.#last.get(sent);
    if (
      last !== undefined &&
      this.#limits === limits &&
      last.device === stamp?.device_id &&
      last.edge === stamp?.edge_id
    ) {
      return last.origin;
    }
    const key = `${stamp?.device_id ?? ''}\0${stamp?.edge_id ?? ''}\0${labelsKey(sent)}`;
    if (this.#limits !== limits || this.#known.size >= maxKnown) {
      this.#known.clear();
      this.#last = new WeakMap();
      this.#limits = limits;
    }
    let origin = this.#known.get(key);
    if (origin === undefined) {
      const labels = withServiceName(stamped(sent, stamp));
      origin = { labels, problem: labelsProblem(sent, limits), level: detectedLevel('', labels) };
      this.#known.set(key, origin);
    }
    this.#last.set(sent, { origin, device: stamp?.device_id, edge: stamp?.edge_id });
    return origin;
  }
}

/** Returns the labels overlaid with what the server knows of the sender. */
function stamped(labels: Labels, stamp: Stamp | undefined): Labels {
  let all = labels;
  for (const name of ['device_id', 'edge_id'] as const) {
    const value = stamp?.[name];
    all = value === undefined ? all : withLabel(all, name, value);
  }
  return all;
}

function labelsProblem(labels: Labels, limits: LogLimits): string | undefined {
  const broken = unparsable(labels);
  if (broken !== undefined) {
    return broken;
  }
  if (labels.length / 2 > limits.labelNames) {
    return `stream '${labelsText(labels).slice(0, 1_000)}' has ${labels.length / 2} label names; limit ${limits.labelNames}`;
  }
  for (let i = 0; i < labels.length; i += 2) {
    const [name, value] = [labels[i]!, labels[i + 1]!];
    if (Buffer.byteLength(name) > limits.labelNameBytes) {
      return `stream has label name too long: '${name.slice(0, 100)}…' of ${Buffer.byteLength(name)} bytes; limit ${limits.labelNameBytes}`;
    }
    if (Buffer.byteLength(value) > limits.labelValueBytes) {
      return `stream has label value too long: label '${name}' has ${Buffer.byteLength(value)} bytes; limit ${limits.labelValueBytes}`;
    }
  }
  return undefined;
}
