import type { LabelRecord } from 'svc/contracts/metricsdb';

import type { Inventory } from '../fetch/inventory.ts';

/** Name by which a program says that it measures something else. */
const measuresOthers = /exporter\w*_build_info$/;
/** Metrics that any program has of itself, and whoever scrapes it of the scrape. */
const ofItself =
  /^(?:process_|go_|python_|promhttp_|net_conntrack_|up$|scrape_)|exporter|_(?:build|version)_info$/;

/** Returns an inventory without what exporters say of themselves: they run, and answer, while what they measure does not. */
export function withoutExporters(inventory: Inventory): Inventory {
  const exporters = new Set(
    inventory.rows.flatMap((row) =>
      measuresOthers.test(row['__name__'] ?? '') ? [targetOf(row)] : [],
    ),
  );
  return {
    ...inventory,
    rows: inventory.rows.filter(
      (row) => !exporters.has(targetOf(row)) || !ofItself.test(row['__name__'] ?? ''),
    ),
  };
}

const targetOf = ({ job = '', instance = '' }: LabelRecord): string => `${job}\n${instance}`;
