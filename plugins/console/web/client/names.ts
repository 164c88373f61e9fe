import { useEffect, useState } from 'preact/hooks';

import { api, type Page } from './api.ts';
import { onChanged } from './live.ts';

type Labels = Readonly<Record<string, string>>;

/** Names of devices by id, until one changes; null: there is no such device, or the reader may not see it. */
const known = new Map<string, string | null>();
/** Max ids of one request. */
const most = 200;
let asking: Promise<void> | undefined;
const wanted = new Set<string>();

onChanged(['devices'], () => known.clear());

/** Fetches the names of these devices, those of one moment together. Names that do not arrive stay ids. */
export async function learnNames(ids: Iterable<string>): Promise<void> {
  for (const id of ids) {
    if (/^[1-9]\d{0,14}$/.test(id) && !known.has(id)) {
      wanted.add(id);
    }
  }
  if (wanted.size > 0) {
    asking ??= Promise.resolve().then(ask);
    await asking;
  }
}

async function ask(): Promise<void> {
  asking = undefined;
  const ids = [...wanted];
  wanted.clear();
  for (let from = 0; from < ids.length; from += most) {
    const part = ids.slice(from, from + most);
    try {
      const { items } = await api.get<Page<{ readonly id: number; readonly display_name: string }>>(
        '/devices',
        { id: part, limit: most },
      );
      part.forEach((id) => known.set(id, null));
      items.forEach(({ id, display_name: name }) => known.set(String(id), name));
    } catch {
      // A page without names is better than none; the next answer asks again.
      return;
    }
  }
}

export const nameOfDevice = (id: string): string | undefined => known.get(id) ?? undefined;

/** Labels as people read them: the name of the device in place of its id. */
export function inNames(labels: Labels): Labels {
  const { device_id: id, ...rest } = labels;
  const name = id === undefined ? undefined : nameOfDevice(id);
  if (name === undefined) {
    return labels;
  }
  // Disks and network interfaces have a label `device` of their own.
  return 'device' in rest ? { host: name, ...rest } : { device: name, ...rest };
}

/** Returns how to write labels; draws again once the names of their devices are known. */
export function useNames(all: Iterable<Labels>): (labels: Labels) => Labels {
  const [, draw] = useState(0);
  const ids = [...new Set([...all].flatMap(({ device_id: id }) => id ?? []))].sort();
  const key = ids.join(' ');
  useEffect(() => {
    let isCurrent = true;
    const learn = (): void =>
      void learnNames(ids).then(() => isCurrent && draw((count) => count + 1));
    learn();
    const stop = onChanged(['devices'], learn);
    return () => {
      isCurrent = false;
      stop();
    };
  }, [key]);
  return inNames;
}
