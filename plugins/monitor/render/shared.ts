import type { Static } from 'typebox';

import type { SharedDashboard } from '../model/link-schema.ts';
import { all } from './choices.ts';
import type { render } from './render.ts';

type Rendered = Awaited<ReturnType<typeof render>>;
type RenderedPanel = Rendered['panels'][number];
type Shared = Omit<Static<typeof SharedDashboard>, 'expires_at'>;
type Data = Shared['panels'][number]['data'];

/**
 * Returns what a reader without an account may see of a dashboard: what is drawn. Queries, labels
 * that are not part of a name, values that could be chosen, and what the stores say about errors
 * stay here.
 */
export const sharedOf = ({ title, from, to, variables, panels }: Rendered): Shared => ({
  title,
  from,
  to,
  variables: variables
    .filter(({ hide, type }) => hide !== 'variable' && type !== 'constant' && type !== 'datasource')
    .map(({ title: name, value, values, texts }) => ({
      title: name,
      value: value
        .map((one) => (one === all ? 'all' : (texts?.[values.indexOf(one)] ?? one)))
        .join(', '),
    })),
  panels: panels.map(sharedPanel),
});

function sharedPanel(panel: RenderedPanel): Shared['panels'][number] {
  const { title, type, unit, thresholds, position, data, table, error, missing } = panel;
  const { description, display, mappings, content, row, folded, series_left_out } = panel;
  return {
    title,
    type,
    unit,
    thresholds,
    position,
    data: unlabelled(data),
    ...(description !== undefined && { description }),
    ...(display && { display }),
    ...(mappings && { mappings }),
    ...(content && { content }),
    ...(row !== undefined && { row }),
    ...(folded !== undefined && { folded }),
    ...(table && { table }),
    ...(series_left_out !== undefined && { series_left_out }),
    ...(error && { error: { message: 'This panel could not be loaded.' } }),
    ...(missing && { missing: { message: 'No data in this time range' } }),
  };
}

function unlabelled(data: RenderedPanel['data']): Data {
  switch (data.result_type) {
    case 'streams':
      return { ...data, result: data.result.map((one) => ({ ...one, stream: {} })) };
    case 'vector':
      return {
        ...data,
        result: data.result.map(({ ref: _, ...one }) => ({ ...one, metric: {} })),
      };
    case 'matrix':
      return {
        ...data,
        result: data.result.map(({ ref: _, ...one }) => ({ ...one, metric: {} })),
      };
  }
}
