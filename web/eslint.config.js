import tseslint from 'typescript-eslint';

/** The folders of `src`, each of which imports only folders before it. */
const FOLDERS = ['api', 'auth', 'fields', 'view', 'rows', 'cells', 'selection', 'edits', 'csv', 'live', 'project', 'manual', 'ui', 'grid', 'board', 'screens'];

const layers = FOLDERS.map((folder, place) => ({
  files: [`src/${folder}/**/*.{ts,tsx}`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          ...FOLDERS.slice(place + 1).map((above) => ({
            group: [`**/${above}/*`],
            message: `${folder} is below ${above} (docs/web.md).`,
          })),
          { group: ['ag-grid-community'], message: 'Only grid/ag knows the library (docs/decisions).' },
        ],
      },
    ],
  },
}));

export default tseslint.config(
  { ignores: ['dist', 'src/api/schema.d.ts'] },
  {
    files: ['src/**/*.{ts,tsx}', 'tests/**/*.{ts,tsx}', 'e2e/**/*.ts', 'vite.config.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
    },
  },
  ...layers,
  { files: ['src/grid/ag/**'], rules: { 'no-restricted-imports': 'off' } },
);
