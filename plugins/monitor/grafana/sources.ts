/** Uids of the data sources that answer the queries. */
export interface Sources {
  readonly metrics: string;
  readonly logs: string;
}
