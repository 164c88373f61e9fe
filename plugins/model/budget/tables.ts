import type { Kysely } from 'kysely';

export type Scope = 'model' | 'run' | 'session' | 'persona';

export interface ModelTables {
  model_usage: {
    day: string;
    scope: Scope;
    ref: string;
    input_tokens: number;
    output_tokens: number;
    cached_tokens: number;
    estimated_tokens: number;
    requests: number;
  };
  model_reservations: {
    id: string;
    process: number;
    day: string;
    model: string;
    run: string;
    session: string;
    persona: string;
    input_tokens: number;
    output_tokens: number;
  };
}

export type ModelDb = Kysely<ModelTables>;
export type Reservation = ModelTables['model_reservations'];
export type UsageRow = ModelTables['model_usage'];
