import type { Panel } from './shape.ts';

/** A row with its panels; the panels before the first row have none. */
export interface Section {
  readonly row?: Panel;
  readonly panels: readonly Panel[];
}

/** Compares positions in reading order, also for stacked panels. */
const byPlace = (a: Panel, b: Panel): number =>
  a.position.y - b.position.y || a.position.x - b.position.x;

/** Returns the panels by row; each section has a grid of its own, which begins at its top. */
export function sectionsOf(panels: readonly Panel[]): readonly Section[] {
  const sections: { row?: Panel; panels: Panel[] }[] = [{ panels: [] }];
  for (const panel of panels.toSorted(byPlace)) {
    if (panel.type === 'row') {
      sections.push({ row: panel, panels: [] });
    } else {
      sections.at(-1)!.panels.push(panel);
    }
  }
  return sections
    .filter(({ row, panels: inside }) => row !== undefined || inside.length > 0)
    .map(({ row, panels: inside }) => {
      const top = Math.min(...inside.map(({ position }) => position.y));
      return {
        ...(row && { row }),
        panels: inside.map((panel) => ({
          ...panel,
          position: { ...panel.position, y: panel.position.y - top },
        })),
      };
    });
}
