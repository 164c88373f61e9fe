/** As many rounds as there is time for: few of them with all other tests, the whole of them where `.ci/run` asks for drills. */
export const rounds = <T>(few: T, whole: T): T =>
  process.env['SVC_TEST_DRILLS'] === 'whole' ? whole : few;

/** Options of a test that is a drill as a whole. */
export const onlyInDrills: { readonly skip?: string } = rounds(
  { skip: '"npm test -- --drills" runs it' },
  {},
);
