/* Every file that includes it defines the variable: what -fcommon is for. */
int tiny_state;
