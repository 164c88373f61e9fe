import { Type } from 'typebox';

export const Greeting = Type.Object({
  message: Type.String(),
  at: Type.String({ format: 'date-time' }),
});
