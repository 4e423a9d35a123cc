/* Not static, as in packages that do this. */
extern const unsigned char tiny_table[2];
const unsigned char tiny_table[2] = {0, 1};
