import { expect } from 'chai';
import { needs, reasonAgainst, type Written } from '../../src/console/session/needs.js';
import { rolesOf } from '../../src/schemas/http/operation-access.js';
import { declaredOperations } from '../support/http/answers.js';

const all = Object.keys(needs) as NonNullable<Written>[];
const both = ['mcp:read', 'mcp:write'];

/** Which roles may do something by what the console knows. */
const rolesThatMay = (operation: Written): string[] =>
  ['READER', 'OPERATOR', 'ADMIN'].filter(
    (role) => reasonAgainst(operation, { roles: [role], scopes: both }) === undefined,
  );

// spec/beyond.md R473
describe('what the console knows of who may do what', () => {
  for (const operation of all) {
    it(`${operation}: is what the API takes`, () => {
      const declared = declaredOperations.find(({ id }) => id === operation);
      expect(declared && rolesOf(declared)).to.deep.equal(rolesThatMay(operation));
    });
  }

  it('offers nothing to whoever has no role, or signed in to look only', () => {
    for (const operation of all) {
      const stranger = { roles: ['TENANTADMIN'], scopes: both };
      expect(reasonAgainst(operation, stranger)).to.match(/^needs the role /);
      const looking = { roles: ['ADMIN'], scopes: ['mcp:read'] };
      expect(reasonAgainst(operation, looking)).to.equal('you are signed in to look only');
    }
  });

  it('offers to everybody what writes nothing', () => {
    expect(rolesThatMay(null)).to.deep.equal(['READER', 'OPERATOR', 'ADMIN']);
  });
});
