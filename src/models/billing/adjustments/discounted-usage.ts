/** SQL for what discounts leave of a row. */
export const netOfRow = (hasDiscounts: boolean): string =>
  hasDiscounts ? '(calc_amount - row_discount)' : 'calc_amount';

/** What discounts take off: of a row, in proportion; the first has what remains, so that all have the discount, to the last digit. */
export const discountedSql = `(
      select *, case when position = 0
        then discount - (sum(of_row) over (partition by id) - of_row) else of_row end as row_discount
      from (
        select *, case when discount = 0 then 0
          else round(coalesce(calc_amount, 0) * discount / (amount + discount), 10) end as of_row
        from unbilled
      ) as divided
    ) as unbilled`;
